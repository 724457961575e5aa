"""Verify releases: compute all digests again and follow the chain of releases.

This cannot detect an edit that rewrites all records from a release on and the file that names the
newest one. A head that was noted elsewhere, or the registry in git, detects that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from carob.errors import CarobError, InputError
from carob.files.atomic import FileContent
from carob.schema import Dataset, Problem
from carob.schema.digest import dataset_digest
from carob.schema.problem import ProgressListener, ignore, watch
from carob.versions.git import CONFLICT, CONFLICT_HINT, has_conflict
from carob.versions.registry import (
    RECORD,
    RESTORE,
    DatasetReleases,
    NewestRelease,
    StoredRelease,
    file_digest,
    folder_names,
    read_record,
)

LoadRelease = Callable[[StoredRelease], Dataset]


def verify(
    datasets: Iterable[DatasetReleases],
    load: LoadRelease | None = None,
    progress: ProgressListener = ignore,
) -> tuple[Problem, ...]:
    """Find everything that was edited, replaced or deleted after its release. With `load`, the
    content of the golden files is compared as well. `progress` receives the number of releases."""
    datasets = list(datasets)
    total, done = sum(len(list(dataset.folders())) for dataset in datasets), 0
    problems: list[Problem] = []
    for dataset in datasets:
        count = partial(_count_from, progress, done, total)
        problems += _verify_dataset(dataset, load, count)
        done += len(list(dataset.folders()))
    return (*problems, *_check_owners(datasets))


def _count_from(progress: ProgressListener, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _check_owners(datasets: Iterable[DatasetReleases]) -> Iterator[Problem]:
    """A second folder under the name of a dataset could pass itself off as its newest release, and
    a note with another name would give the releases of one dataset to another."""
    owners: dict[str, str] = {}
    for dataset in datasets:
        with suppress(InputError):  # reported with the dataset
            name = dataset.owner()
            if name is None:
                continue
            if dataset.folder.name not in folder_names(name):
                message = (
                    f"was renamed: a dataset {name!r} has the folder {folder_names(name)[0]!r}"
                )
                yield Problem(where=str(dataset.folder), message=message, hint=RESTORE)
            if owners.setdefault(name, dataset.folder.name) != dataset.folder.name:
                message = f"was added: {owners[name]!r} holds the releases of {name!r}"
                yield Problem(where=str(dataset.folder), message=message, hint="remove it")


def _verify_dataset(
    dataset: DatasetReleases, load: LoadRelease | None, progress: ProgressListener
) -> Iterator[Problem]:
    folders = list(dataset.folders())
    releases: list[StoredRelease] = []
    for folder in folders:
        try:
            releases.append(StoredRelease(read_record(folder), folder))
        except InputError as error:
            yield _problem_of_error(error)
    for release in watch(releases, progress):
        problems = list(check_files(release))
        yield from problems
        if load and not problems:
            yield from _check_content(release, load)
    yield from _check_chain(dataset, releases, {folder.name for folder in folders})
    yield from _check_newest(dataset, releases, {folder.name for folder in folders})


def _problem_of_error(error: CarobError) -> Problem:
    return Problem(where=error.where or "", message=error.message, hint=error.hint)


def check_files(release: StoredRelease) -> Iterator[Problem]:
    """Compare the files of a release with their digests."""
    record, folder = release
    if record.version != folder.name:
        message = f"was replaced: it contains release {record.version}"
        yield Problem(where=str(folder), message=message, hint=RESTORE)
    for name, expected in record.files.items():
        path = folder / name
        if Path(name).name != name or path.is_symlink() or not path.is_file():
            yield Problem(where=str(path), message="was deleted", hint=RESTORE)
        elif file_digest(FileContent(path)) != expected:
            yield _edit_problem(path, path.read_bytes())
    for path in sorted(folder.iterdir()):
        if path.name not in record.files and path.name != RECORD:
            message = "was added after the release"
            yield Problem(where=str(path), message=message, hint="remove it")


def _edit_problem(path: Path, data: bytes) -> Problem:
    if has_conflict(data):
        return Problem(where=str(path), message=CONFLICT, hint=CONFLICT_HINT)
    return Problem(where=str(path), message="was edited", hint=RESTORE)


def _check_content(release: StoredRelease, load: LoadRelease) -> Iterator[Problem]:
    """The parsed content must match the digest in the record, too."""
    try:
        digest = dataset_digest(load(release))
    except CarobError as error:
        yield _problem_of_error(error)
        return
    if digest != release.record.digest:
        message = f"its content has digest {digest}, expected {release.record.digest}"
        yield Problem(where=str(release.file), message=message, hint=RESTORE)


def _check_chain(
    dataset: DatasetReleases, releases: list[StoredRelease], present: set[str]
) -> Iterator[Problem]:
    for release in releases:
        link = release.record.previous
        if link and link.version not in present:
            yield _deletion_problem(
                dataset, link.version, f"release {release.record.version} follows it"
            )
    yield from _check_links(releases)
    owner = releases[0].record.name if releases else None
    for release in releases:
        if release.record.name != owner:
            message = f"is a release of {release.record.name!r}, expected {owner!r}"
            yield Problem(where=str(release.folder), message=message, hint=RESTORE)


def _check_links(releases: list[StoredRelease]) -> Iterator[Problem]:
    # Each record holds the seal of its predecessor, so that replacing a release together with its
    # own seal is still noticed: by the release after it.
    records = {release.record.version: release.record for release in releases}
    for before, release in pairwise(releases):
        link = release.record.previous
        linked = records.get(link.version) if link else None
        if link is None or (linked and linked != before.record):
            after = link.version if link else "none"
            message = f"breaks the chain: it follows {after}, not {before.record.version}"
            yield Problem(where=str(release.folder), message=message, hint=RESTORE)
        elif linked and linked.seal != link.seal:
            yield _replacement_problem(
                before, f"release {release.record.version} follows a different one"
            )


def _check_newest(
    dataset: DatasetReleases, releases: list[StoredRelease], present: set[str]
) -> Iterator[Problem]:
    try:
        newest = dataset.newest()
    except InputError as error:
        yield _problem_of_error(error)
        return
    name = dataset.newest_path.name
    if newest is None:
        if present:
            message = "is missing: without it, nothing vouches for the newest release"
            yield Problem(where=str(dataset.newest_path), message=message, hint=RESTORE)
        return
    names = {release.record.name for release in releases}
    if names and newest.name not in names:
        message = f"was edited: it names {newest.name!r}, its releases {min(names)!r}"
        yield Problem(where=str(dataset.newest_path), message=message, hint=RESTORE)
    if newest.version is not None and newest.version not in present:
        yield _deletion_problem(dataset, newest.version, f"{name} names it")
    seals = _recorded_seals(newest)
    for release in releases:
        if seals.get(release.record.version, release.record.seal) != release.record.seal:
            yield _replacement_problem(release, f"{name} names a different one")
    if releases and newest.version in present and releases[-1].record.version not in seals:
        message = f"was added or is not the newest: {name} names {newest.version}"
        yield Problem(where=str(releases[-1].folder), message=message, hint=RESTORE)


def _recorded_seals(newest: NewestRelease) -> dict[str, str]:
    """The seals of the newest release and of the one that was being published."""
    seals = {newest.next.version: newest.next.seal} if newest.next else {}
    if newest.version and newest.seal:
        seals[newest.version] = newest.seal
    return seals


def check_heads(datasets: Iterable[DatasetReleases], heads: Iterable[str]) -> Iterator[Problem]:
    """Find heads, noted at an earlier time, that no release has any more: from there on the
    history was rewritten."""
    seals = {release.record.seal for dataset in datasets for release in _readable(dataset)}
    for head in heads:
        if head not in seals:
            message = "is the head of no release: the history was rewritten"
            yield Problem(where=head, message=message, hint=RESTORE)


def _readable(dataset: DatasetReleases) -> Iterator[StoredRelease]:
    for folder in dataset.folders():
        with suppress(InputError):  # reported by `verify`
            yield StoredRelease(read_record(folder), folder)


def _deletion_problem(dataset: DatasetReleases, version: str, why: str) -> Problem:
    return Problem(where=str(dataset.folder / version), message=f"was deleted: {why}", hint=RESTORE)


def _replacement_problem(release: StoredRelease, why: str) -> Problem:
    return Problem(where=str(release.folder), message=f"was replaced: {why}", hint=RESTORE)
