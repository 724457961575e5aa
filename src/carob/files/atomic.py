"""Atomic file writes: a file is written completely or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from carob.errors import OutputError, UsageError
from carob.files.scratch import make_scratch_file

Content: TypeAlias = bytes | Iterable[bytes]
"""The content of a file, as a whole or in parts that can be iterated again."""
_BLOCK = 1 << 20


class FileContent:
    """The content of an existing file, or a range of it, which is read in blocks."""

    def __init__(self, path: Path, start: int = 0, end: int | None = None) -> None:
        self.path, self._start, self._end = path, start, end

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(self._start)
            while block := file.read(self._next_block(file.tell())):
                yield block

    def _next_block(self, position: int) -> int:
        return _BLOCK if self._end is None else min(_BLOCK, self._end - position)


def content_parts(content: Content) -> Iterable[bytes]:
    """Return the parts of a content."""
    return (content,) if isinstance(content, bytes) else content


def has_content(path: Path, content: Content) -> bool:
    """Whether a file exists and has exactly this content."""
    try:
        with path.open("rb") as file:
            return all(file.read(len(part)) == part for part in content_parts(content)) and (
                not file.read(1)
            )
    except OSError:  # not readable, so it cannot be the same
        return False


def write_atomic(path: Path, data: Content, *, mode: int | None = None) -> None:
    """Replace a file. The old one stays whole until the new one is written and synced."""
    with atomic_writer(path, mode=mode) as file:
        file.writelines(content_parts(data))


def check_overwrite(
    path: Path, data: Content | None = None, *, hint: str = "pass --force to overwrite"
) -> None:
    """Raise `UsageError` if a file already exists and its content is not `data`.

    Every command that writes a file of its own asks here first. A report is exempt: `-o` replaces
    the last one, as it does in other tools.
    """
    if is_stream(path) or not path.is_file():
        return
    if data is None:
        raise UsageError(f"{path} already exists", hint=hint)
    if not has_content(path, data):
        raise UsageError(f"{path} already exists and differs", hint=hint)


@contextmanager
def atomic_writer(path: Path, *, mode: int | None = None) -> Generator[BinaryIO]:
    """Open a file for writing that appears, or replaces the old one, when the block ends. Its
    permissions are `mode`, or those of the old one.

    A symbolic link stays a link: its target is replaced. A stream, such as a pipe or /dev/stdout,
    is written to directly.
    """
    if path.name == "-":
        raise OutputError("'-' is not a file name", hint="pass a file name, or /dev/stdout")
    try:
        if is_stream(path):
            with _open_stream(path) as file:
                yield file
            return
        with suppress(FileNotFoundError):
            path.stat()  # fails for a link to itself, which would be replaced otherwise
        real = Path(os.path.realpath(path))
        handle, temporary = make_scratch_file(real.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(_permissions(real) if mode is None else mode)
            temporary.replace(real)
            with suppress(OSError):  # not every file system can, nor in a folder one cannot list
                sync_folder(real.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        hint = None if path.parent.exists() else f"the directory {path.parent} does not exist"
        raise OutputError(message, where=str(path), hint=hint) from error


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk: without it, a power cut may undo a rename."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_stream(path: Path) -> bool:
    """Whether the path is a device, a pipe, or what this process prints to.

    Renaming a file over one of these would destroy it: root may well replace /dev/null.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    ordinary = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return not ordinary or _own_output(status) is not None


def _open_stream(path: Path) -> BinaryIO:
    # With `carob … -o /dev/stdout > file`, opening the path again would truncate the file and
    # overwrite what was already printed; the duplicated descriptor continues after it.
    descriptor = _own_output(path.stat())
    return path.open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb")


def _own_output(status: os.stat_result) -> int | None:
    """The descriptor of stdout or stderr, if the file is one of them."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(status, os.fstat(descriptor)):
                return descriptor
    return None


def _permissions(path: Path) -> int:
    """The permissions of the file, or those that a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
