"""The folder of releases. Whoever reads it needs only a file browser:

    registry/support.json               the newest release of `support`, so that none can vanish
    registry/support/1.2.0/support.csv  the golden file as it was released
    registry/support/1.2.0/release.json who, when, from which commit, its digests and its link
    registry/support/1.2.0/CHANGELOG.md what changed, up to this release

A release comes into being by one rename of a folder that is written completely. What lies in that
folder is never written again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from carob.errors import InputError, UsageError
from carob.schema import Release
from carob.versions.names import folders
from carob.versions.numbers import newest, number
from carob.versions.publish import put
from carob.versions.seal import is_sealed

RECORD = "release.json"
CHANGELOG = "CHANGELOG.md"
_LIMIT = 16 * 2**20
RESTORE = "restore it from git or from a backup"


class Newest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The newest release of a dataset. It may lag behind after a crash, and is never ahead."""

    name: str
    version: str
    seal: str


S = TypeVar("S", Newest, Release)


class Released(NamedTuple):
    """A release and the folder that holds it."""

    record: Release
    folder: Path

    @property
    def file(self) -> Path:
        """The golden file."""
        return self.folder / self.record.file


class Registry:
    """All releases under one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def shelves(self) -> list[Shelf]:
        """Every dataset that has, or had, a release."""
        if not self.root.is_dir():
            return []
        marked = {path.stem for path in self.root.glob("*.json")}
        found = {path.name for path in self.root.iterdir() if _is_folder(path)}
        return [Shelf(self.root, name) for name in sorted(marked | found)]

    def shelf(self, name: str) -> Shelf:
        """The place for a dataset of this name, which may still be empty."""
        places = [Shelf(self.root, folder) for folder in folders(name)]
        return next((place for place in places if place.owner() in (None, name)), places[-1])

    def find(self, reference: str) -> Released:
        """The release that is meant by `support@1.2.0`, `support@^1` or `support`."""
        name, _, wanted = reference.rpartition("@") if "@" in reference else (reference, "", "")
        shelf = self.named(name)
        releases = {one.record.version: one for one in shelf.releases()}
        version = newest(wanted, releases)
        if version is None:
            known = ", ".join(releases) or "none"
            raise UsageError(
                f"no release {wanted or 'at all'} of {name!r}", hint=f"its releases are {known}"
            )
        return releases[version]

    def named(self, name: str) -> Shelf:
        """The releases of a dataset, by its name or by that of its folder."""
        shelves = self.shelves()
        for shelf in shelves:
            if shelf.owner() == name:
                return shelf
        for shelf in shelves:
            if shelf.folder.name == name:
                return shelf
        known = ", ".join(shelf.folder.name for shelf in shelves)
        hint = f"the datasets released there are {known}" if known else "nothing is released there"
        raise UsageError(f"no dataset {name!r} in {self.root}", hint=hint)


class Shelf:
    """The releases of one dataset."""

    def __init__(self, root: Path, folder: str) -> None:
        self.folder = root / folder
        self.newest_path = root / f"{folder}.json"

    def owner(self) -> str | None:
        """The name of the dataset that is released here; `None` if none is."""
        try:
            mark = self.newest()
            if mark:
                return mark.name
            return next((one.record.name for one in self.releases()), None)
        except InputError:
            return ""  # somebody's, and damaged

    def newest(self) -> Newest | None:
        """What the registry knows to be the newest release."""
        if not self.newest_path.is_file():
            return None
        return _decode(self.newest_path, Newest)

    def remember(self, release: Release) -> None:
        """Make a release the newest one that the registry knows of."""
        mark = Newest(name=release.name, version=release.version, seal=release.seal)
        data = msgspec.json.format(msgspec.json.encode(mark), indent=2) + b"\n"
        put(self.newest_path.parent, self.newest_path.name, data)

    def folders(self) -> Iterator[Path]:
        """The folders that have a version for a name, oldest first."""
        found = [path for path in _entries(self.folder) if _is_folder(path) and _is_version(path)]
        return iter(sorted(found, key=lambda path: number(path.name)))

    def releases(self) -> list[Released]:
        """The releases, oldest first."""
        return [Released(read_record(folder), folder) for folder in self.folders()]


def read_record(folder: Path) -> Release:
    """What a folder says of its release."""
    record = _decode(folder / RECORD, Release)
    if not is_sealed(record):
        raise InputError(
            "was edited: it does not match its seal", where=str(folder / RECORD), hint=RESTORE
        )
    if Path(record.file).name != record.file or record.file not in record.files:
        raise InputError(f"names the file {record.file!r}", where=str(folder / RECORD))
    return record


def _decode(path: Path, kind: type[S]) -> S:
    try:
        if path.is_symlink() or not path.is_file():
            raise InputError("is missing", where=str(path), hint=RESTORE)
        if path.stat().st_size > _LIMIT:
            raise InputError(f"more than {_LIMIT >> 20} MiB", where=str(path))
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"was edited: {error}", where=str(path), hint=RESTORE) from error


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if _is_folder(folder) else []


def _is_folder(path: Path) -> bool:
    """A folder of ours: no link that leads elsewhere, nothing hidden."""
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def _is_version(path: Path) -> bool:
    try:
        return str(number(path.name)) == path.name
    except UsageError:
        return False
