"""Every error that Carob raises for a reason the user can mend.

CarobError
├── UsageError            a name or an option that does not exist
├── InputError            a file that cannot be read
│   ├── UnknownFormatError    no format claims it
│   └── FormatError           a format claims it, and it is broken
├── OutputError           a file that cannot be written
│   └── LossError             a strict conversion would lose something
├── RefusedError          what the data says does not allow it
└── StoppedError          the user stopped it
"""

from __future__ import annotations


class CarobError(Exception):
    """Something the user can mend: where it is, what was found, and what would help."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class UsageError(CarobError):
    """A name or an option that does not exist."""


class InputError(CarobError):
    """A file that cannot be read."""


class UnknownFormatError(InputError):
    """No format claims the file."""


class FormatError(InputError):
    """A format claims the file, and the file is broken."""


class OutputError(CarobError):
    """A file that cannot be written."""


class LossError(OutputError):
    """A strict conversion would lose something, so nothing was written."""

    def __init__(self, message: str, *, where: str, conversion: object) -> None:
        super().__init__(message, where=where)
        self.conversion = conversion


class RefusedError(CarobError):
    """What the data says does not allow it: a release with drafts, or of a version too low."""


class StoppedError(CarobError):
    """The user stopped it."""
