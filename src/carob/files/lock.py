"""Locks on folders: one process at a time changes the files in it.

Whoever reads a file, changes it and writes it back would otherwise undo what another process wrote
in between, and two files that belong together could come from two processes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from carob.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows: atomic renames are all there is
    fcntl = None

_TIMEOUT = 30.0
_PAUSE = 0.02


class _Held(threading.local):
    """The folders that this thread has locked: a second lock would wait for the first for ever."""

    def __init__(self) -> None:
        self.folders: set[Path] = set()


_held = _Held()


@contextmanager
def lock_folder(folder: Path) -> Generator[bool]:
    """Lock a folder, and tell whether that was possible: some file systems have no locks. A thread
    may lock a folder again. The lock ends with its process, so a killed process leaves none behind.
    Raises `OutputError` if another process does not release it in time."""
    real = Path(os.path.realpath(folder))
    if real in _held.folders:
        yield True
        return
    handle = _open_folder(real)
    if handle is None:
        yield False
        return
    try:
        is_locked = _acquire(handle, folder)
        _held.folders.add(real)
        yield is_locked
    finally:
        _held.folders.discard(real)
        os.close(handle)


def _open_folder(folder: Path) -> int | None:
    if fcntl is not None:
        with suppress(OSError):  # missing or not readable: writing to it reports that
            return os.open(folder, os.O_RDONLY)
    return None


def _acquire(handle: int, folder: Path) -> bool:
    assert fcntl is not None  # noqa: S101 - for the type checker: without it nothing is opened
    end = time.monotonic() + _TIMEOUT
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError as error:
            if time.monotonic() > end:
                message = "another process is writing to this folder"
                raise OutputError(message, where=str(folder), hint="try again later") from error
            time.sleep(_PAUSE)
        except OSError:
            return False
