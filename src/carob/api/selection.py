"""Load golden data and select the cases that are scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from carob.api.load import PathName, as_list, load_golden
from carob.errors import UsageError
from carob.schema import Case, CaseSelection, Dataset
from carob.text.spelling import did_you_mean


class SelectedCases(NamedTuple):
    """Golden data, and the cases of it that are scored."""

    whole: Dataset
    part: Dataset
    selection: CaseSelection


def make_selection(
    tags: str | Iterable[str] = (),
    where: str | None = None,
    cases: str | Iterable[str] = (),
    limit: int | None = None,
) -> CaseSelection:
    """Return the conditions that select cases. Raises `UsageError` for an invalid one, before any
    file is read."""
    if limit is not None and limit < 1:
        raise UsageError(f"invalid limit {limit}; expected at least 1")
    if where is not None:
        from carob.datasets.where import compile_where  # late: most runs score all cases

        compile_where(where)
    return CaseSelection(
        tags=tuple(as_list(tags)), where=where, cases=tuple(as_list(cases)), limit=limit
    )


def load_selected(
    golden: PathName | Dataset, selection: CaseSelection, by: Sequence[str] = ()
) -> SelectedCases:
    """Load golden data and select cases. Raises `UsageError` if no case is left, and for a property
    in `by` that no case has."""
    part = whole = load_golden(golden)
    if selection:
        from carob.datasets.select import select_cases  # late: most runs score all cases

        part = select_cases(whole, selection)
        selection = msgspec.structs.replace(selection, total=len(whole.cases))
    _check_properties(by, part)
    return SelectedCases(whole, part, selection)


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
