"""Use-cases of versions: compare, look up, check out, verify, review."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob import plugins
from carob.api.clock import timestamp
from carob.api.datasets import save
from carob.api.load import (
    REGISTRY,
    PathName,
    check_intact,
    find_release,
    format_name,
    load,
    load_release,
    writable_path,
)
from carob.datasets.reformat import reformat_like
from carob.errors import UsageError
from carob.files.atomic import write_atomic
from carob.schema import Dataset, Diff, Problem, Release, Review, ReviewStatus
from carob.versions import diff as comparing
from carob.versions import review as reviewing
from carob.versions.registry import CHANGELOG, Registry
from carob.versions.verify import verify as verify_shelves


class CheckedOut(NamedTuple):
    """A release, and where its golden file now is."""

    release: Release
    path: Path


def diff(
    old: Dataset | PathName, new: Dataset | PathName, *, registry: PathName = REGISTRY
) -> Diff:
    """What changed from `old` to `new`, and the bump that it demands. Both are datasets, golden
    files of any format, or releases such as `support@1.2.0`."""
    return diff_datasets(_opened(old, registry), _opened(new, registry))


def diff_datasets(old: Dataset, new: Dataset) -> Diff:
    """The diff of two datasets, in terms of the format of the new one."""
    before = reformat_like(old, new, plugins.formats())
    found = comparing.diff(before.dataset, new)
    return msgspec.structs.replace(found, lost=before.losses)


def versions(name: str | None = None, *, registry: PathName = REGISTRY) -> tuple[Release, ...]:
    """The releases of all datasets, or of one, oldest first."""
    found = Registry(Path(registry))
    shelves = found.datasets() if name is None else [found.find_dataset(name)]
    return tuple(one.record for shelf in shelves for one in shelf.releases())


def release_folder(release: Release, *, registry: PathName = REGISTRY) -> Path:
    """The folder that holds a release."""
    return Registry(Path(registry)).releases_of(release.name).folder / release.version


def verify(*, registry: PathName = REGISTRY) -> tuple[Problem, ...]:
    """All that was edited, replaced or deleted after its release."""
    return verify_shelves(Registry(Path(registry)).datasets(), load_release)


def changelog(name: str, *, registry: PathName = REGISTRY) -> str:
    """The changelog of a dataset up to its newest release."""
    folder = Registry(Path(registry)).find(name).folder
    return (folder / CHANGELOG).read_text("utf-8")


def checkout(
    reference: str,
    dst: PathName | None = None,
    *,
    force: bool = False,
    registry: PathName = REGISTRY,
) -> CheckedOut:
    """Copy a release, such as `support@1.2.0` or `support@^1`, to a file or into a folder."""
    one = check_intact(Registry(Path(registry)).find(reference))
    path = Path(dst) if dst is not None else Path(one.record.file)
    path = path / one.record.file if path.is_dir() else path
    parts = {
        path.with_name(name.replace(one.record.file, path.name, 1)): one.folder / name
        for name in one.record.files
        if name != CHANGELOG
    }
    for target, source in parts.items():
        if not force and target.exists() and target.read_bytes() != source.read_bytes():
            raise UsageError(f"{target} is there, with other content", hint="`--force` replaces it")
    for target, source in parts.items():
        write_atomic(target, source.read_bytes())
    return CheckedOut(one.record, path)


def review(path: PathName, *, format: str | None = None) -> tuple[Review, ...]:
    """What became of each case in review, and where it comes from."""
    return reviewing.reviews(load(path, format=format))


def mark_reviewed(
    path: PathName,
    cases: Iterable[str] | None,
    status: ReviewStatus,
    *,
    by: str,
    date: str | None = None,
    format: str | None = None,
) -> tuple[Review, ...]:
    """Write into a golden file that somebody reviewed these cases, or all of them."""
    file = writable_path(path)
    dataset = load(file, format=format)
    ids = {case.id for case in dataset.cases} if cases is None else set(cases)
    made = reviewing.reviewed(dataset, ids, status, by=by, at=timestamp(date)[:10])
    save(made, file, format=format or format_name(dataset))
    return tuple(one for one in reviewing.reviews(made) if one.case in ids)


def _opened(source: Dataset | PathName, registry: PathName) -> Dataset:
    if isinstance(source, Dataset):
        return source
    one = find_release(source, Path(registry))
    return load_release(one) if one else load(source)
