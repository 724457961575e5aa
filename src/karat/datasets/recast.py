"""A dataset as it would be read from another one's format, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from karat.datasets.formats import Format
from karat.datasets.read import unique_ids
from karat.datasets.write import Target, prepare
from karat.schema import Dataset, Loss


class Recast(NamedTuple):
    """The dataset in the other format, and what that has no place for."""

    dataset: Dataset
    losses: tuple[Loss, ...] = ()


def recast(dataset: Dataset, like: Dataset, formats: Sequence[Format]) -> Recast:
    """The dataset as the format of `like` would say it. It stays as it is where that format is the
    same or cannot be written, and where `like` carries along what its format has no place for."""
    to = _target(like, formats)
    if to is None or (dataset.origin and _named(dataset) == to.format.name):
        return Recast(dataset)
    if any(loss.case is not None for loss in prepare(_bare(like), to, formats).losses):
        return Recast(dataset)
    prepared = prepare(dataset, to, formats)
    lens = to.format.cases(to.container)
    cases = [lens.read(written.doc) for written in prepared.cases]
    if to.format.derives_ids:
        ids = unique_ids(case.id for case in cases)
        cases = [msgspec.structs.replace(case, id=id) for case, id in zip(cases, ids, strict=True)]
    header = to.format.header(to.container, to.stem).get(prepared.header.doc)
    return Recast(header.with_cases(cases), prepared.losses)


def _target(like: Dataset, formats: Sequence[Format]) -> Target | None:
    for form in formats:
        for container in form.containers:
            key = form.header(container, "").key
            if form.writable and like.origin and like.origin.format == key:
                return Target(Path(like.name), form, container)
    return None


def _named(dataset: Dataset) -> str:
    return dataset.origin.format.partition(".")[0] if dataset.origin else ""


def _bare(dataset: Dataset) -> Dataset:
    """The dataset without the documents it came from: only what it says counts."""
    cases = [msgspec.structs.replace(case, origin=None) for case in dataset.cases]
    return msgspec.structs.replace(dataset, origin=None, cases=cases)
