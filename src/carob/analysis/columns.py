"""The numbers of two runs, case by case: attempts at the same case are averaged first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from operator import sub
from typing import NamedTuple, cast

from carob.analysis.pair import Attempted

Column = list[float | None]
"""One number for each case; `None` where nothing was scored."""
_VERDICTS = {"passed": 1.0, "failed": 0.0}


class Scores(NamedTuple):
    """What one metric said of each case: its values, and the share of attempts that passed."""

    values: Column
    passes: Column


def scores(cases: Sequence[Attempted], metrics: Iterable[str]) -> dict[str, Scores]:
    """The scores of each metric."""
    made = {name: Scores([None] * len(cases), [None] * len(cases)) for name in metrics}
    for place, results in enumerate(cases):
        if len(results) > 1:
            _fill_means(made, place, results)
            continue
        for score in results[0].scores:
            column = made.get(score.metric)
            if column:
                column.values[place] = score.value
                column.passes[place] = _VERDICTS.get(score.status)
    return made


def _fill_means(made: dict[str, Scores], place: int, results: Attempted) -> None:
    for name, (values, passes) in made.items():
        known = [score for one in results for score in one.scores if score.metric == name]
        values[place] = _mean([score.value for score in known])
        passes[place] = _mean([_VERDICTS.get(score.status) for score in known])


def pass_rates(cases: Iterable[Attempted]) -> Column:
    """How many of the attempts that have a verdict passed."""
    return [
        _VERDICTS.get(results[0].status)
        if len(results) == 1
        else _mean([_VERDICTS.get(one.status) for one in results])
        for results in cases
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


class Joined(NamedTuple):
    """Two columns where both have a number, and the cases where only one has."""

    before: Sequence[float]
    after: Sequence[float]
    differences: Sequence[float]
    """After minus before."""
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()


def join(names: Sequence[str], old: Column, new: Column) -> Joined:
    """Two columns of the same cases."""
    if None not in old and None not in new:  # most often, and much faster
        return _joined(cast("list[float]", old), cast("list[float]", new))
    rows = [*zip(names, old, new, strict=True)]
    both = [(one, other) for _, one, other in rows if one is not None and other is not None]
    return _joined([one for one, _ in both], [other for _, other in both])._replace(
        lost=tuple(name for name, one, other in rows if one is not None and other is None),
        gained=tuple(name for name, one, other in rows if one is None and other is not None),
    )


def _joined(before: list[float], after: list[float]) -> Joined:
    return Joined(before, after, [*map(sub, after, before)])
