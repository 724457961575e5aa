"""How a release comes into being: completely, once, and by one process at a time."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from carob.errors import OutputError, RefusedError

try:
    import fcntl
except ImportError:  # Windows: the rename alone decides who wins
    fcntl = None

_STAGING = ".staging-"
_PATIENCE = 30.0
_PAUSE = 0.02


@contextmanager
def locked(root: Path) -> Generator[None]:
    """Be the only one who releases under this folder. A lock ends with its process, so that a
    killed one leaves none behind; what it left half-written is cleared away."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(root, error) from error
    if fcntl is None:
        yield
        return
    handle = os.open(root, os.O_RDONLY)
    try:
        if _is_alone(handle, root):
            for left in root.glob(f"{_STAGING}*"):
                shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(handle)


def _is_alone(handle: int, root: Path) -> bool:
    """Wait for the lock. `False` on a file system without locks: there the rename decides."""
    assert fcntl is not None  # noqa: S101 - for the type checker: the caller has looked
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise OutputError("another release is under way", where=str(root)) from error
            time.sleep(_PAUSE)
        except OSError:
            return False


class Stage:
    """A folder in the making, of which nobody knows until it is published."""

    def __init__(self, top: Path, folder: Path) -> None:
        self._top, self._folder = top, folder
        self.path = top / folder.parent.name / folder.name
        self.path.mkdir(parents=True)
        self.is_published = False

    def write(self, name: str, data: bytes) -> None:
        """Add a file, on the disk and not only on its way there."""
        _write(self.path / name, data)

    def publish(self) -> None:
        """Make the folder appear, with all that is in it; refused if there is one already."""
        sync(self.path)
        parent = self._folder.parent
        first = not parent.exists()
        source, target = (self.path.parent, parent) if first else (self.path, self._folder)
        if first:
            sync(source)
        try:
            source.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) and target.exists():
                raise already_there(self._folder) from error
            raise
        self.is_published = True
        sync(target.parent)


@contextmanager
def staged(root: Path, folder: Path) -> Generator[Stage]:
    """Prepare `folder`, two levels below `root`."""
    with _staging(root) as top:
        yield Stage(top, folder)


def put(root: Path, name: str, data: bytes) -> None:
    """Write or replace a file in `root`, completely or not at all."""
    with _staging(root) as top:
        _write(top / name, data)
        (top / name).replace(root / name)
        sync(root)


def keep_bytes(root: Path) -> None:
    """Tell git not to change line ends: a release is the same bytes on every machine."""
    if not (root / ".gitattributes").exists():
        put(root, ".gitattributes", b"* -text\n")


@contextmanager
def _staging(root: Path) -> Generator[Path]:
    """A hidden folder. Git does not see what a crash leaves of it."""
    try:
        top = Path(tempfile.mkdtemp(dir=root, prefix=_STAGING))
        try:
            (top / ".gitignore").write_text("*\n")
            yield top
        finally:
            shutil.rmtree(top, ignore_errors=True)
    except OSError as error:
        raise _unwritable(root, error) from error


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def already_there(folder: Path) -> RefusedError:
    """Somebody was faster."""
    return RefusedError(
        f"version {folder.name} is released already",
        where=str(folder),
        hint="a released version never changes; release the next one",
    )


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot be written: {error.strerror or error}", where=str(path))
