"""A dataset as it would be read from another one's format, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.datasets.formats import Format
from carob.datasets.read import unique_ids
from carob.datasets.write import Prepared, Target, prepare
from carob.schema import Case, Dataset, Loss


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
    carried = prepare(_bare(like), to, formats).losses
    made = prepare(dataset, to, formats)
    header, losses = dataset, made.losses
    if not any(loss.case is None and loss.field != "name" for loss in carried):
        header = to.format.header(to.container, to.stem).get(made.header.doc)
    if any(loss.case is not None for loss in carried):
        cases, losses = dataset.cases, ()
    else:
        cases = _cases(made)
    return Recast(header.with_cases(cases), losses)


def _cases(made: Prepared) -> list[Case]:
    form, container = made.target.format, made.target.container
    lens = form.cases(container)
    cases = [lens.read(written.doc) for written in made.cases]
    if not form.derives_ids:
        return cases
    ids = unique_ids(case.id for case in cases)
    return [msgspec.structs.replace(case, id=name) for case, name in zip(cases, ids, strict=True)]


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
