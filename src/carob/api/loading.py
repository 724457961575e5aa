"""Golden data, in whatever format it is. All that a run needs of it is here, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TypeVar, cast

from carob import plugins
from carob.datasets.read import read
from carob.errors import UsageError
from carob.schema import Dataset

One = TypeVar("One")
PathName = str | PathLike[str]
_REFERENCE = re.compile(r"[^/\\]+@(latest|[\^~]?v?\d+(\.\d+){0,2})")


def several(given: One | Iterable[One]) -> list[One]:
    """One thing or many of them: a text is one, and not a list of its letters."""
    if isinstance(given, str | PathLike) or not isinstance(given, Iterable):
        return [cast("One", given)]
    return [*cast("Iterable[One]", given)]


def golden_data(golden: PathName | Dataset) -> Dataset:
    """Golden data to score against: in memory already, or in a file. Results name cases by their
    ids, so that two cases of one id would be taken for one; two recordings of a case may be."""
    dataset = golden if isinstance(golden, Dataset) else load(golden)
    check_ids(dataset)
    return dataset


def check_ids(dataset: Dataset) -> None:
    """Refuse golden data of which two cases have one id."""
    seen: set[str] = set()
    for case in dataset.cases:
        if case.id in seen and not case.recording:
            hint = "give each case an id of its own; `carob validate` names the places"
            raise UsageError(f"{dataset.name} has the case {case.id!r} twice", hint=hint)
        seen.add(case.id)


def load(path: PathName, *, format: str | None = None) -> Dataset:
    """Read golden data of any format; the format is recognised by content unless it is named.
    A release such as `support@1.2.0` is found in the registry."""
    if not is_reference(path):
        return read(Path(path), plugins.formats(), format)
    registry = import_module("carob.api.references")  # takes longer than to load a file
    return registry.load_release(registry.referenced(path))


def is_reference(source: PathName) -> bool:
    """Whether a release is meant, such as `support@^1`, and not a path."""
    return bool(_REFERENCE.fullmatch(str(source))) and not Path(source).exists()
