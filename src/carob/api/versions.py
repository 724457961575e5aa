"""Versions of golden data: diff, list, check out, verify, review."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.clock import timestamp
from carob.api.golden.in_place import save_in_place
from carob.api.load import (
    REGISTRY,
    PathName,
    check_intact,
    find_release,
    golden_formats,
    load,
    load_release,
    load_streamed,
    writable_path,
)
from carob.datasets.reformat import reformat_like
from carob.datasets.sidecar import read_sidecar, sidecar_path, write_with_sidecar
from carob.files.atomic import FileContent, check_overwrite, write_atomic
from carob.files.lock import lock_folder
from carob.schema import Dataset, Diff, Problem, Release, Review, ReviewStatus
from carob.schema.problem import ProgressListener, ignore
from carob.versions import diff as comparing
from carob.versions import review as reviewing
from carob.versions.registry import CHANGELOG, Registry
from carob.versions.verify import check_heads
from carob.versions.verify import verify as verify_releases


class CheckedOut(NamedTuple):
    """A release, and the path of its copy."""

    release: Release
    path: Path


def diff(
    old: Dataset | PathName,
    new: Dataset | PathName,
    *,
    registry: PathName = REGISTRY,
    progress: ProgressListener = ignore,
) -> Diff:
    """Return the changes from `old` to `new` and the version bump they require. Both are datasets,
    golden files of any format, or releases such as `support@1.2.0`. `progress` receives the bytes
    that were read of each file."""
    return diff_datasets(_load(old, registry, progress), _load(new, registry, progress))


def diff_datasets(old: Dataset, new: Dataset) -> Diff:
    """Diff two datasets, in terms of the format of the new one."""
    before = reformat_like(old, new, golden_formats())
    found = comparing.diff(before.dataset, new)
    return msgspec.structs.replace(found, lost=before.losses)


def versions(name: str | None = None, *, registry: PathName = REGISTRY) -> tuple[Release, ...]:
    """List the releases of all datasets, or of one, oldest first."""
    opened = Registry(Path(registry))
    datasets = opened.datasets() if name is None else [opened.find_dataset(name)]
    for dataset in datasets:
        dataset.newest()  # raises for a merge conflict: the releases are those of one branch only
    return tuple(release.record for dataset in datasets for release in dataset.releases())


def find_release_record(reference: str, registry: PathName = REGISTRY) -> Release:
    """Return the record of a release, such as `support@1.2.0` or `support@^1`."""
    return check_intact(Registry(Path(registry)).find(reference)).record


def release_folder(release: Release, *, registry: PathName = REGISTRY) -> Path:
    """Return the folder of a release."""
    return Registry(Path(registry)).releases_of(release.name).folder / release.version


def verify(
    *,
    registry: PathName = REGISTRY,
    heads: Iterable[str] = (),
    progress: ProgressListener = ignore,
) -> tuple[Problem, ...]:
    """List everything that was edited, replaced or deleted since its release. `heads` are seals
    that releases had at an earlier time; one that is gone means a rewritten history. `progress`
    receives the number of releases that were verified."""
    datasets = Registry(Path(registry)).datasets()
    return (*verify_releases(datasets, load_release, progress), *check_heads(datasets, heads))


def changelog(name: str, *, registry: PathName = REGISTRY) -> str:
    """Return the changelog of a dataset up to its newest release."""
    opened = Registry(Path(registry))
    release = opened.find(name)
    opened.releases_of(release.record.name).newest()  # raises for a merge conflict, as above
    return (release.folder / CHANGELOG).read_text("utf-8")


def checkout(
    reference: str,
    dst: PathName | None = None,
    *,
    force: bool = False,
    registry: PathName = REGISTRY,
    progress: ProgressListener = ignore,
) -> CheckedOut:
    """Copy a release, such as `support@1.2.0` or `support@^1`, to a file or into a folder.
    `progress` receives the bytes that were read of each file."""
    release = check_intact(Registry(Path(registry)).find(reference))
    path = Path(dst) if dst is not None else Path(release.record.file)
    path = path / release.record.file if path.is_dir() else path
    parts = {
        path.with_name(name.replace(release.record.file, path.name, 1)): _WatchedFile(
            release.folder / name, progress
        )
        for name in release.record.files
        if name != CHANGELOG
    }
    for target, source in parts.items() if not force else ():
        check_overwrite(target, source)
    for target, source in parts.items():
        if target == path:
            write_with_sidecar(path, source, read_sidecar(source.path))
        elif target != sidecar_path(path):
            write_atomic(target, source)
    return CheckedOut(release.record, path)


class _WatchedFile(FileContent):
    """The content of a file that reports how much of it was read."""

    def __init__(self, path: Path, progress: ProgressListener) -> None:
        super().__init__(path)
        self._progress = progress

    def __iter__(self) -> Iterator[bytes]:
        done, size = 0, self.path.stat().st_size
        for block in super().__iter__():
            yield block
            done += len(block)
            self._progress(done, size)


def review(
    path: PathName,
    cases: Iterable[str] | None = None,
    *,
    from_: str | None = None,
    progress: ProgressListener = ignore,
) -> tuple[Review, ...]:
    """Return the review status and the lineage of cases, by default of all. A case is named by its
    id, its position (`12`, from 1), or a part of what the user says. `progress` receives the bytes
    that were read."""
    dataset = load_streamed(path, from_=from_, progress=progress)
    return _select_reviews(dataset, None if cases is None else _ids(dataset, cases))


def mark_reviewed(
    path: PathName,
    cases: Iterable[str] | None,
    status: ReviewStatus,
    *,
    by: str,
    date: str | None = None,
    from_: str | None = None,
    progress: ProgressListener = ignore,
) -> tuple[Review, ...]:
    """Set the review status of the named cases, or of all cases, in a golden file. Only the reviews
    change in the file, and earlier reviewers stay in its history."""
    file = writable_path(path)
    with lock_folder(file.parent):
        dataset = load(file, from_=from_, progress=progress)
        ids = None if cases is None else _ids(dataset, cases)
        now = timestamp(date)
        reviewed = reviewing.with_review(dataset, status, ids, by=by, at=now[:10])
        if reviewed.cases == dataset.cases and date is None:
            # The same review on the same day: only the time shows that it covers later edits.
            reviewed = reviewing.with_review(dataset, status, ids, by=by, at=now)
        if reviewed.cases != dataset.cases:
            save_in_place(reviewed, file)
    return _select_reviews(reviewed, ids)


def _ids(dataset: Dataset, names: Iterable[str]) -> frozenset[str]:
    return frozenset(reviewing.find_cases(dataset, names))


def _select_reviews(dataset: Dataset, ids: Collection[str] | None) -> tuple[Review, ...]:
    reviews = reviewing.case_reviews(dataset)
    return tuple(review for review in reviews if ids is None or review.case in ids)


def load_reference(reference: str, registry: PathName = REGISTRY) -> Dataset:
    """Load a release by its reference, such as `support@1.2.0`. Opens no other file."""
    return load_release(check_intact(Registry(Path(registry)).find(reference)))


def _load(
    source: Dataset | PathName, registry: PathName, progress: ProgressListener = ignore
) -> Dataset:
    if isinstance(source, Dataset):
        return source
    release = find_release(source, Path(registry))
    if release:
        return load_release(release, spooled=True)
    return load_streamed(source, progress=progress)
