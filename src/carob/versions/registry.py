"""The registry: a folder of releases that can be read with a file browser.

    registry/support.json               the newest release, so that deleting it is noticed
    registry/support/1.2.0/support.csv  the golden file as released
    registry/support/1.2.0/release.json author, time, commit, digests, link to the previous release
    registry/support/1.2.0/CHANGELOG.md what changed, up to this release

A release is published by renaming one complete folder. Files in it are never written again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b, sha256
from pathlib import Path
from typing import NamedTuple, TypeVar
from unicodedata import normalize

import msgspec

from carob.errors import InputError, NotFoundError, UsageError
from carob.files.atomic import Content, content_parts
from carob.schema import PreviousRelease, Release
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean
from carob.versions.git import CONFLICT, CONFLICT_HINT, has_conflict
from carob.versions.numbers import newest_in_range, parse_version
from carob.versions.publish import write_atomically

RECORD = "release.json"
CHANGELOG = "CHANGELOG.md"
_LIMIT = 16 * 2**20
_encode = msgspec.json.Encoder(order="deterministic").encode
RESTORE = "restore it from git or from a backup"


class NewestRelease(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The newest release of a dataset, and the one that is being published, if any."""

    name: str
    version: str | None = None
    seal: str | None = None
    next: PreviousRelease | None = None
    """Written before a release is published: after a crash, the release may exist or not."""


S = TypeVar("S", NewestRelease, Release)


class StoredRelease(NamedTuple):
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

    def datasets(self) -> list[DatasetReleases]:
        """Every dataset that has, or had, a release."""
        if not self.root.is_dir():
            return []
        recorded = {path.stem for path in self.root.glob("*.json")}
        present = {path.name for path in self.root.iterdir() if _is_folder(path)}
        return [DatasetReleases(self.root, name) for name in sorted(recorded | present)]

    def owners(self) -> dict[str, DatasetReleases]:
        """The datasets by name, without those whose records are damaged."""
        owners: dict[str, DatasetReleases] = {}
        for dataset in self.datasets():
            with suppress(InputError):
                owner = dataset.owner()
                if owner is not None:
                    owners.setdefault(owner, dataset)
        return owners

    def releases_of(self, name: str) -> DatasetReleases:
        """The releases of the dataset with this name, of which there may be none yet."""
        candidates = [DatasetReleases(self.root, folder) for folder in folder_names(name)]
        free = (releases for releases in candidates if releases.owner() in (None, name))
        return next(free, candidates[-1])

    def find(self, reference: str) -> StoredRelease:
        """Find a release by a reference such as `support@1.2.0`, `support@^1` or `support`."""
        name, _, requested = reference.rpartition("@") if "@" in reference else (reference, "", "")
        dataset = self.find_dataset(name)
        releases = {release.record.version: release for release in dataset.releases()}
        version = newest_in_range(requested, releases)
        if version is None:
            message = f"no release of {name!r} matches {requested or 'latest'!r}"
            raise NotFoundError(message, hint=f"releases: {', '.join(releases) or 'none'}")
        return releases[version]

    def find_dataset(self, name: str) -> DatasetReleases:
        """Find a dataset by its name or the name of its folder."""
        datasets = self.datasets()
        owners = self.owners()
        if name in owners:
            return owners[name]
        for folder in (name, *folder_names(name)):  # `support bot` finds `Support Bot`
            for dataset in datasets:
                if dataset.folder.name == folder:
                    return dataset
        names = [dataset.folder.name for dataset in datasets]
        listing = f"released datasets: {', '.join(names)}" if names else None
        hint = did_you_mean(name, names) or listing or "the registry has no releases"
        raise NotFoundError(f"no dataset {name!r} in {self.root}", hint=hint)


class DatasetReleases:
    """The releases of one dataset."""

    def __init__(self, root: Path, folder: str) -> None:
        self.folder = root / folder
        self.newest_path = root / f"{folder}.json"

    def owner(self) -> str | None:
        """The name of the dataset; `None` if there is no release. Raises `InputError` if the
        records are damaged: then nobody knows whose folder this is."""
        newest = self.newest()
        if newest:
            return newest.name
        return next((release.record.name for release in self.releases()), None)

    def newest(self) -> NewestRelease | None:
        """The newest release according to the registry."""
        if not self.newest_path.is_file():
            return None
        return _decode(self.newest_path, NewestRelease)

    def announce(self, release: Release) -> None:
        """Record a release that is about to be published."""
        link = PreviousRelease(version=release.version, seal=release.seal)
        before = release.previous
        self._write_newest(
            NewestRelease(
                name=release.name,
                version=before.version if before else None,
                seal=before.seal if before else None,
                next=link,
            )
        )

    def set_newest(self, release: Release) -> None:
        """Record a release as the newest one."""
        self._write_newest(
            NewestRelease(name=release.name, version=release.version, seal=release.seal)
        )

    def complete_announcement(self) -> None:
        """Record the announced release as the newest one if it was published, and the process
        ended before it could say so."""
        newest = self.newest()
        announced = newest.next if newest else None
        for release in self.releases() if announced else ():
            if PreviousRelease(release.record.version, release.record.seal) == announced:
                self.set_newest(release.record)

    def _write_newest(self, newest: NewestRelease) -> None:
        data = msgspec.json.format(msgspec.json.encode(newest), indent=2) + b"\n"
        write_atomically(self.newest_path.parent, self.newest_path.name, data)

    def folders(self) -> Iterator[Path]:
        """The folders named after a version, oldest first."""
        paths = [path for path in _entries(self.folder) if _is_folder(path) and _is_version(path)]
        return iter(sorted(paths, key=lambda path: parse_version(path.name)))

    def releases(self) -> list[StoredRelease]:
        """The releases, oldest first."""
        return [StoredRelease(read_record(folder), folder) for folder in self.folders()]


def read_record(folder: Path) -> Release:
    """Read and check the `release.json` of a folder."""
    record = _decode(folder / RECORD, Release)
    if not has_valid_seal(record):
        raise InputError(
            "was edited: it does not match its digest", where=str(folder / RECORD), hint=RESTORE
        )
    if Path(record.file).name != record.file or record.file not in record.files:
        raise InputError(f"invalid file name {record.file!r}", where=str(folder / RECORD))
    return record


def _decode(path: Path, kind: type[S]) -> S:
    try:
        if path.is_symlink() or not path.is_file():
            raise InputError("is missing", where=str(path), hint=RESTORE)
        if path.stat().st_size > _LIMIT:
            raise InputError(f"larger than {_LIMIT >> 20} MiB", where=str(path))
        data = path.read_bytes()
        if has_conflict(data):
            raise InputError(CONFLICT, where=str(path), hint=CONFLICT_HINT)
        return msgspec.json.decode(data, type=prepare_type(kind))
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"was edited: {error}", where=str(path), hint=RESTORE) from error


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if _is_folder(folder) else []


def _is_folder(path: Path) -> bool:
    """Whether this is a folder of the registry: not a symbolic link, not hidden."""
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def _is_version(path: Path) -> bool:
    try:
        return str(parse_version(path.name)) == path.name
    except UsageError:
        return False


_LONGEST = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")
"""Device names on Windows."""


def folder_names(name: str) -> tuple[str, ...]:
    """The folder names that a dataset may use, in order of preference. `Größe 1` and `grosse-1` may
    share the first; the last includes a hash of the name and is unique."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    short = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-")
    suffix = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    unique = f"{short or 'dataset'}-{suffix}"
    return (unique,) if not short or _RESERVED.fullmatch(short) else (short, unique)


def file_digest(content: Content) -> str:
    """The digest of a file, with the name of its algorithm."""
    digest = sha256()
    for part in content_parts(content):
        digest.update(part)
    return "sha256:" + digest.hexdigest()


def seal_release(record: Release) -> Release:
    """The record with its seal, the digest of all other fields."""
    return msgspec.structs.replace(record, seal=_compute_seal(record))


def has_valid_seal(record: Release) -> bool:
    """Whether the record is unchanged since it was sealed."""
    return record.seal == _compute_seal(record)


def _compute_seal(record: Release) -> str:
    return file_digest(_encode(msgspec.structs.replace(record, seal="")))
