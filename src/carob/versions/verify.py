"""Verify releases: compute all digests again and follow the chain of releases.

This cannot detect an edit that rewrites all records from a release on and the file that names the
newest one. Commit the registry to git to detect that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from carob.errors import CarobError, InputError
from carob.schema import Dataset, Problem, Release
from carob.schema.digest import dataset_digest
from carob.versions.registry import (
    RECORD,
    RESTORE,
    DatasetReleases,
    NewestRelease,
    StoredRelease,
    file_digest,
    read_record,
)

LoadRelease = Callable[[StoredRelease], Dataset]


def verify(
    datasets: Iterable[DatasetReleases], load: LoadRelease | None = None
) -> tuple[Problem, ...]:
    """Find everything that was edited, replaced or deleted after its release. With `load`, the
    content of the golden files is compared as well."""
    return tuple(problem for dataset in datasets for problem in _verify_dataset(dataset, load))


def _verify_dataset(dataset: DatasetReleases, load: LoadRelease | None) -> Iterator[Problem]:
    folders = list(dataset.folders())
    releases: list[StoredRelease] = []
    for folder in folders:
        try:
            releases.append(StoredRelease(read_record(folder), folder))
        except InputError as error:
            yield _problem_of_error(error)
    for release in releases:
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
        elif file_digest(path.read_bytes()) != expected:
            yield Problem(where=str(path), message="was edited", hint=RESTORE)
    for path in sorted(folder.iterdir()):
        if path.name not in record.files and path.name != RECORD:
            message = "was added after the release"
            yield Problem(where=str(path), message=message, hint="remove it")


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
    if newest is None:
        return
    if newest.version not in present:
        yield _deletion_problem(dataset, newest.version, f"{dataset.newest_path.name} names it")
    yield from (
        _replacement_problem(release, f"{dataset.newest_path.name} names a different one")
        for release in releases
        if _differs_from(release.record, newest)
    )


def _differs_from(record: Release, newest: NewestRelease) -> bool:
    return record.version == newest.version and record.seal != newest.seal


def _deletion_problem(dataset: DatasetReleases, version: str, why: str) -> Problem:
    return Problem(where=str(dataset.folder / version), message=f"was deleted: {why}", hint=RESTORE)


def _replacement_problem(release: StoredRelease, why: str) -> Problem:
    return Problem(where=str(release.folder), message=f"was replaced: {why}", hint=RESTORE)
