"""Golden data by its release, in place of a path: `support@1.2.0`, `support@^1`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from carob import plugins
from carob.api.loading import PathName, is_reference
from carob.datasets.read import read
from carob.errors import RefusedError, UsageError
from carob.schema import Dataset
from carob.versions.registry import Registry, Released
from carob.versions.verify import check_files

REGISTRY = Path("golden") / "registry"


def referenced(source: PathName, registry: Path = REGISTRY) -> Released | None:
    """The release that is meant; `None` for whatever reads like a path, or is one."""
    return intact(Registry(registry).find(str(source))) if is_reference(source) else None


def load_release(one: Released) -> Dataset:
    """The dataset of a release, which has its version even where its format has no place for it."""
    dataset = read(one.file, plugins.formats(), one.record.format)
    return msgspec.structs.replace(dataset, version=one.record.version)


def intact(one: Released) -> Released:
    """The release, if it is as it was released; nothing is built on one that was touched."""
    problem = next(check_files(one), None)
    if problem:
        raise RefusedError(problem.message, where=problem.where, hint=problem.hint)
    return one


def own_file(source: PathName) -> Path:
    """The path of a file that may be written."""
    if referenced(source):
        hint = f"`carob checkout {source}` makes a copy that may be edited"
        raise UsageError(f"{source} is a release, which never changes", hint=hint)
    return Path(source)
