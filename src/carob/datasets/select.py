"""Select cases of a dataset: by tag, expression, id, and number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from carob.datasets.where import compile_where
from carob.errors import UsageError
from carob.files.spool import Spool
from carob.schema import CaseSelection, Dataset
from carob.schema.codec import CASES
from carob.text.spelling import did_you_mean


def select_cases(dataset: Dataset, selection: CaseSelection) -> Dataset:
    """Return the cases that meet every condition, in the order of the dataset. Raises `UsageError`
    for an unknown id, an invalid expression, and if no case is left."""
    matches = compile_where(selection.where) if selection.where is not None else None
    tags, ids = frozenset(map(str.casefold, selection.tags)), frozenset(selection.cases)
    _check_ids(dataset, selection.cases)
    cases = (
        case
        for case in dataset.cases
        if (not tags or tags <= {*map(str.casefold, case.tags)})
        and (not ids or case.id in ids)
        and (not matches or matches(case))
    )
    spool = Spool(CASES)  # a part of a large dataset may be large, too
    spool.extend(islice(cases, selection.limit))
    part = dataset.with_cases(spool.finish())
    if not part.cases:  # a run or a suite without cases would pass
        raise _no_match(dataset)
    return part


def _check_ids(dataset: Dataset, ids: Sequence[str]) -> None:
    known = {case.id for case in dataset.cases} if ids else set[str]()
    for id in ids:
        if id not in known:
            hint = did_you_mean(id, sorted(known)) or f"{dataset.name} has {len(known)} cases"
            raise UsageError(f"unknown case {id!r}", where=dataset.name, hint=hint)


def _no_match(dataset: Dataset) -> UsageError:
    summary = dataset.summary()
    tags = ", ".join(summary.tags) or "none"
    fields = ", ".join(f"metadata.{name}" for name in summary.metadata) or "none"
    return UsageError(
        f"none of the {summary.cases} cases matches",
        where=dataset.name,
        hint=f"the tags are {tags}; the metadata fields are {fields}",
    )
