"""Publish a release atomically, once, and by one process at a time."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from carob.errors import OutputError, RefusedError
from carob.files.atomic import Content, content_parts, sync_folder
from carob.files.lock import lock_folder

_STAGING = ".staging-"


@contextmanager
def registry_lock(root: Path) -> Generator[None]:
    """Lock the registry. The lock ends with its process, so a killed process leaves none behind;
    its unfinished files are removed."""
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(root, error) from error
    # On a file system without locks, the rename decides which process wins.
    with lock_folder(root) as is_locked:
        for leftover in root.glob(f"{_STAGING}*") if is_locked else ():
            shutil.rmtree(leftover, ignore_errors=True)
        yield


class StagedRelease:
    """A release folder that is not visible until it is published."""

    def __init__(self, top: Path, folder: Path) -> None:
        self._folder = folder
        self.path = top / folder.parent.name / folder.name
        self.path.mkdir(parents=True)
        self.is_published = False

    def write(self, name: str, content: Content) -> None:
        """Add a file and flush it to disk."""
        _write(self.path / name, content)

    def publish(self) -> None:
        """Move the folder into place. Raises `RefusedError` if the release exists already."""
        sync_folder(self.path)
        parent = self._folder.parent
        # The first release of a dataset moves the dataset folder as well, so that a crash cannot
        # leave an empty one behind.
        first = not parent.exists()
        source, target = (self.path.parent, parent) if first else (self.path, self._folder)
        if first:
            sync_folder(source)
        try:
            source.rename(target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) and target.exists():
                raise already_released(self._folder) from error
            raise
        self.is_published = True
        sync_folder(target.parent)


@contextmanager
def stage_release(root: Path, folder: Path) -> Generator[StagedRelease]:
    """Prepare the release `folder`, which is two levels below `root`."""
    with _staging(root) as top:
        yield StagedRelease(top, folder)


def write_atomically(root: Path, name: str, data: bytes) -> None:
    """Write or replace a file in `root` atomically."""
    with _staging(root) as top:
        _write(top / name, data)
        (top / name).replace(root / name)
        sync_folder(root)


def disable_line_end_conversion(root: Path) -> None:
    """Stop git from converting line endings, which would change the digests of releases."""
    if not (root / ".gitattributes").exists():
        write_atomically(root, ".gitattributes", b"* -text\n")


@contextmanager
def _staging(root: Path) -> Generator[Path]:
    """A hidden folder that git ignores, even if a crash leaves it behind."""
    try:
        top = Path(tempfile.mkdtemp(dir=root, prefix=_STAGING))
        try:
            (top / ".gitignore").write_text("*\n")
            yield top
        finally:
            shutil.rmtree(top, ignore_errors=True)
    except OSError as error:
        raise _unwritable(root, error) from error


def _write(path: Path, content: Content) -> None:
    with path.open("xb") as file:
        file.writelines(content_parts(content))
        file.flush()
        os.fsync(file.fileno())


def already_released(folder: Path) -> RefusedError:
    """The error for a version that exists already."""
    return RefusedError(
        f"version {folder.name} is already released",
        where=str(folder),
        hint="releases are immutable; release the next version",
    )


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot be written: {error.strerror or error}", where=str(path))
