"""Errors that a user can fix. Each class carries the exit code of the command that raises it.

CarobError                  2
├── UsageError              2  unknown name, invalid option or invalid parameter
├── InputError              2  a file or a stored run cannot be read
│   ├── UnknownFormatError  2  no format recognizes the file
│   └── FormatError         2  the format is known, but the content is broken
├── OutputError             2  a file cannot be written
│   └── LossError           1  a strict conversion would lose fields
├── EvaluationError         2  a gate, comparison or calibration cannot be evaluated
├── RefusedError            1  the data does not allow it: a release with drafts, a changed release
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


class InputError(CarobError):
    """A file or a stored run that cannot be read."""


class UnknownFormatError(InputError):
    """No format recognizes the file."""


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


class StoppedError(CarobError):
    """The user interrupted the command."""


def install_hint(extra: str) -> str:
    """Return the command that installs an extra where this program runs: a clone has its own
    environment, and `pip install carob[…]` would replace the clone by a release."""
    from pathlib import Path  # late: `carob --help` does without it

    in_clone = (Path(__file__).parents[2] / "pyproject.toml").exists()
    return f".venv/bin/pip install '.[{extra}]'" if in_clone else f"pip install 'carob[{extra}]'"
