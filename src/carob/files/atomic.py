"""Files that are there completely or not at all, and files that are none."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from carob.errors import InputError, OutputError


def check_regular(path: Path) -> None:
    """Refuse to read what is no file, or could block."""
    where = str(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "standard input is not read: save it to a file first" if path.name == "-" else None
        raise InputError("no such file", where=where, hint=hint) from error
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(message, where=where) from error
    if stat.S_ISDIR(mode):
        hint = f"name the files in it: {path}/*"
        raise InputError("a directory, not a file", where=where, hint=hint)
    if not stat.S_ISREG(mode):
        raise InputError("not a regular file", where=where, hint="save it to a file first")


def replace(path: Path, data: bytes) -> None:
    """Write beside and rename, so that the old file stays whole until the new one is."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """The same for a file that is written piece by piece: it is there when all of it is.

    A link stays a link, and what it leads to is replaced; into a stream, the bytes are written.
    """
    import tempfile  # takes longer than a small run

    if path.name == "-":
        raise OutputError("'-' is no file", hint="name one, or write to /dev/stdout")
    try:
        if is_stream(path):
            with _stream(path) as file:
                yield file
            return
        real = Path(os.path.realpath(path))
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(_mode(real))
            Path(name).replace(real)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        hint = None if path.parent.exists() else f"there is no folder {path.parent}"
        raise OutputError(message, where=str(path), hint=hint) from error


def is_stream(path: Path) -> bool:
    """Is it a device, a pipe, or what this process prints to? A file in its place would destroy
    it: to replace /dev/null is a thing that root may do."""
    try:
        found = path.stat()
    except OSError:
        return False
    ordinary = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return not ordinary or _printed_to(found) is not None


def _stream(path: Path) -> BinaryIO:
    """Our own output is gone on with, not opened anew, which would begin at its start."""
    number = _printed_to(path.stat())
    return path.open("wb") if number is None else os.fdopen(os.dup(number), "wb")


def _printed_to(found: os.stat_result) -> int | None:
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(number)):
                return number
    return None


def _mode(path: Path) -> int:
    """The permissions that the file has, or that a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
