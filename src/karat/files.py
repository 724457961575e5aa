"""Files that are there completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from karat.errors import OutputError


def replace(path: Path, data: bytes) -> None:
    """Write beside and rename, so that the old file stays whole until the new one is."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """The same for a file that is written piece by piece: it is there when all of it is."""
    import tempfile  # takes longer than a small run

    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(_mode(path))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise OutputError(message, where=str(path)) from error


def _mode(path: Path) -> int:
    """The permissions that the file has, or that a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
