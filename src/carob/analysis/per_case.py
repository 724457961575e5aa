"""Scores and pass rates of a run, one number per case. Repeated attempts are averaged first, so
that a case counts once however often it was repeated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from operator import sub
from typing import NamedTuple, TypeAlias, cast

from carob.schema import CaseResult, Run

Attempts: TypeAlias = Sequence[CaseResult]
"""The results of one case in one run; more than one if it was repeated."""
Column = list[float | None]
"""One number per case; `None` where nothing was scored."""
_VERDICTS = {"passed": 1.0, "failed": 0.0}


class CasePair(NamedTuple):
    """A case that is the same in both runs."""

    case: str
    before: Attempts
    after: Attempts


class ScoreColumns(NamedTuple):
    """The values of one metric, and the share of attempts that passed, per case."""

    values: Column
    passes: Column


class PairedColumns(NamedTuple):
    """Two columns restricted to the cases with a number in both."""

    before: Sequence[float]
    after: Sequence[float]
    differences: Sequence[float]
    """After minus before."""
    aligned: Sequence[float]
    """The same, with 0 for cases without a number in both, so that all metrics line up."""
    lost: tuple[str, ...] = ()
    """Cases with a number only before."""
    gained: tuple[str, ...] = ()
    """Cases with a number only after."""


def attempts_by_case(run: Run) -> Mapping[str, Attempts]:
    """Group results by case. Results without a case are left out."""
    single = {result.case: (result,) for result in run.cases if result.case is not None}
    # Without repeats, which is the common case, one tuple per case is enough: the garbage
    # collector skips tuples of untracked objects, but would scan a hundred thousand lists.
    if len(single) == len(run.cases):
        return single
    groups: dict[str, list[CaseResult]] = {}
    for result in run.cases:
        if result.case is not None:
            groups.setdefault(result.case, []).append(result)
    return groups


def score_columns(cases: Sequence[Attempts], metrics: Iterable[str]) -> dict[str, ScoreColumns]:
    """The scores of each metric, in the order of the cases."""
    columns = {name: ScoreColumns([None] * len(cases), [None] * len(cases)) for name in metrics}
    for index, results in enumerate(cases):
        if len(results) > 1:
            _fill_means(columns, index, results)
            continue
        for score in results[0].scores:
            column = columns.get(score.metric)
            if column:
                column.values[index] = score.value
                column.passes[index] = _VERDICTS.get(score.status)
    return columns


def _fill_means(columns: dict[str, ScoreColumns], index: int, results: Attempts) -> None:
    for name, (values, passes) in columns.items():
        scores = [score for one in results for score in one.scores if score.metric == name]
        values[index] = _mean([score.value for score in scores])
        passes[index] = _mean([_VERDICTS.get(score.status) for score in scores])


def pass_rates(cases: Iterable[Attempts]) -> Column:
    """The share of attempts that passed, of those with a verdict."""
    return [
        _VERDICTS.get(results[0].status)
        if len(results) == 1
        else _mean([_VERDICTS.get(result.status) for result in results])
        for results in cases
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def pair_columns(names: Sequence[str], old: Column, new: Column) -> PairedColumns:
    """Pair two columns of the same cases."""
    if None not in old and None not in new:  # the common case, and much faster
        return _paired(cast("list[float]", old), cast("list[float]", new))
    rows = [*zip(names, old, new, strict=True)]
    both = [(left, right) for _, left, right in rows if left is not None and right is not None]
    return _paired([left for left, _ in both], [right for _, right in both])._replace(
        aligned=[0.0 if left is None or right is None else right - left for _, left, right in rows],
        lost=tuple(name for name, left, right in rows if left is not None and right is None),
        gained=tuple(name for name, left, right in rows if left is None and right is not None),
    )


def _paired(before: list[float], after: list[float]) -> PairedColumns:
    differences = [*map(sub, after, before)]
    return PairedColumns(before, after, differences, differences)
