"""Load golden data and select the cases that are scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.load import PathName, as_list, load_golden
from carob.api.running.assemble import dataset_info
from carob.errors import UsageError
from carob.schema import Case, CaseSelection, Dataset, RunDataset
from carob.text.spelling import did_you_mean


class SelectedCases(NamedTuple):
    """Golden data, and the cases of it that are scored."""

    whole: Dataset
    part: Dataset
    selection: CaseSelection
    info: RunDataset
    """The description of the whole dataset."""


def make_selection(
    tags: str | Iterable[str] = (),
    where: str | None = None,
    cases: str | Iterable[str] = (),
    limit: int | None = None,
    *,
    filters: Iterable[str] = (),
    sample: int | None = None,
    stratify: str | None = None,
    seed: int = 0,
) -> CaseSelection:
    """Return the conditions that select cases. Raises `UsageError` for an invalid one, before any
    file is read."""
    if limit is not None and limit < 1:
        raise UsageError(f"invalid limit {limit}; expected at least 1")
    if sample is not None and sample < 1:
        raise UsageError(f"invalid sample of {sample}; expected at least 1")
    if stratify is not None and sample is None:
        raise UsageError("nothing to stratify", hint="pass --sample as well")
    if where is not None:
        from carob.datasets.where import compile_where  # late: most runs score all cases

        compile_where(where)
    return CaseSelection(
        tags=tuple(as_list(tags)),
        where=where,
        cases=tuple(as_list(cases)),
        limit=limit,
        filters=tuple(filters),
        sample=sample,
        stratify=stratify,
        seed=seed if sample is not None else 0,
    )


def load_selected(
    golden: PathName | Dataset,
    selection: CaseSelection,
    by: Sequence[str] = (),
    *,
    config: Path | None = None,
    mapping: str | None = None,
) -> SelectedCases:
    """Load golden data and select cases. Raises `UsageError` if no case is left, and for a property
    in `by` that no case has."""
    part = whole = load_golden(golden, config=config, mapping=mapping)
    if selection:
        from carob.datasets.select import select_cases  # late: most runs score all cases

        part = select_cases(whole, selection)
        selection = msgspec.structs.replace(selection, total=len(whole.cases))
    _check_properties(by, part)
    return SelectedCases(whole, part, selection, dataset_info(whole))


def _check_properties(by: Sequence[str], dataset: Dataset) -> None:
    """Raise `UsageError` for a property that no case has: its breakdown would be empty."""
    if not by:
        return
    known: dict[str, None] = {}
    for case in dataset.cases:
        known.update(dict.fromkeys(_properties(case)))
    for name in by:
        if name not in known:
            hint = did_you_mean(name, known) or f"available: {', '.join(known) or 'none'}"
            message = f"cannot break down by {name!r}: no case has it"
            raise UsageError(message, where=dataset.name, hint=hint)


def _properties(case: Case) -> Iterable[str]:
    if case.agents:
        yield "agent"
    if case.tags:
        yield "tag"
    yield from case.metadata
