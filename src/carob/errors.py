"""Errors that a user can fix. Each class carries the exit code of the command that raises it.

CarobError                  2
├── UsageError              2  unknown name, invalid option or invalid parameter
├── UntrustedError          2  a file names an address or a key, and the user has not trusted it
├── InputError              2  a file or a stored run cannot be read
│   ├── NotFoundError       2  nothing has that name: a run, a dataset, a case
│   ├── UnknownFormatError  2  no format recognizes the file
│   │   └── EmptyFileError  2  nothing is in the file
│   └── FormatError         2  the format is known, but the content is broken
├── OutputError             2  a file cannot be written
│   └── LossError           1  a strict conversion would lose fields
├── EvaluationError         2  a gate, comparison or calibration cannot be evaluated
├── RefusedError            1  the data does not allow it: a release with drafts, a changed release
│   └── StaleError          1  somebody else has changed it since the caller read it
└── StoppedError            2  the user interrupted the command

Exit codes are the same for every command: 0 good, 1 the data or the agent did not pass, 2 the
command could not be carried out. Commands never map errors to exit codes themselves.
"""

from __future__ import annotations

from typing import ClassVar


class CarobError(Exception):
    """An error that the user can fix: where it is, what was found, and a hint."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(CarobError):
    """An unknown name, an invalid option or an invalid parameter."""


class UntrustedError(CarobError):
    """A file names an address, a key, a command or code, and the user has not trusted it."""


class InputError(CarobError):
    """A file or a stored run that cannot be read."""


class NotFoundError(InputError):
    """Nothing has that name: no run, dataset or case."""


class UnknownFormatError(InputError):
    """No format recognizes the file."""


class EmptyFileError(UnknownFormatError):
    """Nothing is in the file: of golden data, probably a write that failed."""


class FormatError(InputError):
    """The format of the file is known, but its content is broken."""


class OutputError(CarobError):
    """A file that cannot be written."""


class LossError(OutputError):
    """A strict conversion would lose fields, so nothing was written."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str, conversion: object) -> None:
        super().__init__(message, where=where)
        self.conversion = conversion


class EvaluationError(CarobError):
    """A gate, comparison or calibration that cannot be evaluated, so there is no verdict.

    Unlike `RefusedError` this says nothing about the data: an expired quarantine or a baseline
    without common cases must not look like a failed gate in CI.
    """


class RefusedError(CarobError):
    """The data does not allow it: a release with drafts, a version too low, a changed release."""

    exit_code: ClassVar[int] = 1


class StaleError(RefusedError):
    """Somebody else has changed it since the caller read it."""


class StoppedError(CarobError):
    """The user interrupted the command."""


def install_hint(*extras: str) -> str:
    """Return the command that installs extras where this program runs: a clone has its own
    environment, and `pip install carob[…]` would replace the clone by a release."""
    from pathlib import Path  # late: `carob --help` does without it

    names = ",".join(dict.fromkeys(extras))
    in_clone = (Path(__file__).parents[2] / "pyproject.toml").exists()
    return f".venv/bin/pip install '.[{names}]'" if in_clone else f"pip install 'carob[{names}]'"


def require_packages(purpose: str, *packages: str, extra: str) -> None:
    """Raise `UsageError` if a package of an extra is not installed. Called before any work is done:
    nobody should wait for a run, or pay for a judge, to learn it at the end."""
    from importlib.util import find_spec  # late, as above

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise UsageError(f"{purpose} {describe_missing(missing)}", hint=install_hint(extra))


def describe_missing(packages: list[str]) -> str:
    """Say which packages are required and not installed."""
    if len(packages) == 1:
        return f"requires the package {packages[0]!r}, which is not installed"
    names = ", ".join(map(repr, packages))
    return f"requires packages that are not installed: {names}"
