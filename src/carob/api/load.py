"""Load golden data from files and releases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from carob import plugins
from carob.datasets.read import read_dataset
from carob.errors import RefusedError, UsageError
from carob.schema import Dataset

if TYPE_CHECKING:
    from carob.versions.registry import StoredRelease

T = TypeVar("T")
PathName = str | PathLike[str]
REGISTRY = Path("golden") / "registry"
"""Default folder of releases."""
_REFERENCE = re.compile(r"[^/\\]+@(latest|[\^~]?v?\d+(\.\d+){0,2})")


def as_list(value: T | Iterable[T]) -> list[T]:
    """Return a list of one or many values. A string is one value, not a list of characters."""
    if isinstance(value, str | PathLike) or not isinstance(value, Iterable):
        return [cast("T", value)]
    return [*cast("Iterable[T]", value)]


def load(path: PathName, *, format: str | None = None) -> Dataset:
    """Load golden data. The format is detected from content unless it is named. A release such as
    `support@1.2.0` is loaded from the registry."""
    release = find_release(path)
    return load_release(release) if release else read_dataset(Path(path), plugins.formats(), format)


def load_golden(golden: PathName | Dataset) -> Dataset:
    """Return golden data to score against, from a file or from memory."""
    dataset = golden if isinstance(golden, Dataset) else load(golden)
    check_unique_ids(dataset)
    return dataset


def check_unique_ids(dataset: Dataset) -> None:
    """Raise `UsageError` for duplicate case ids: results refer to cases by id. Rows that carry a
    trace may repeat an id, because each is one attempt at the case."""
    seen: set[str] = set()
    for case in dataset.cases:
        if case.id in seen and not case.recorded:
            hint = "ids must be unique; `carob validate` lists the duplicates"
            raise UsageError(f"duplicate case id {case.id!r} in {dataset.name}", hint=hint)
        seen.add(case.id)


def is_reference(source: PathName) -> bool:
    """Return whether the source is a release such as `support@^1`. An existing path wins."""
    return bool(_REFERENCE.fullmatch(str(source))) and not Path(source).exists()


def find_release(source: PathName, registry: Path = REGISTRY) -> StoredRelease | None:
    """Return the release that a reference names, or `None` for a path."""
    if not is_reference(source):
        return None
    from carob.versions.registry import Registry  # late: slower to import than a file to load

    return check_intact(Registry(registry).find(str(source)))


def load_release(release: StoredRelease) -> Dataset:
    """Load a release. It has its version even if the format cannot store one."""
    dataset = read_dataset(release.file, plugins.formats(), release.record.format)
    return msgspec.structs.replace(dataset, version=release.record.version)


def check_intact(release: StoredRelease) -> StoredRelease:
    """Return the release. Raises `RefusedError` if its files were changed since."""
    from carob.versions.verify import check_files  # late: only releases need it

    problem = next(check_files(release), None)
    if problem:
        raise RefusedError(problem.message, where=problem.where, hint=problem.hint)
    return release


def writable_path(source: PathName) -> Path:
    """Return the path of a golden file. Raises `UsageError` for a release, which is immutable."""
    if find_release(source):
        hint = f"`carob checkout {source}` makes a copy that you can edit"
        raise UsageError(f"{source} is a release and cannot be changed", hint=hint)
    return Path(source)


def format_name(source: Dataset) -> str | None:
    """Return the format that a dataset was read from."""
    return source.origin.format.partition(".")[0] if source.origin else None
