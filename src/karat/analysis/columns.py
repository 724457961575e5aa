"""The numbers of two runs, case by case: attempts at the same case are averaged first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from karat.analysis.align import Attempted
from karat.schema import CaseScore

Column = list[float | None]
"""One number for each case; `None` where nothing was scored."""
_VERDICTS = {"passed": 1.0, "failed": 0.0}


class Scores(NamedTuple):
    """What one metric said of each case: its values, and the share of attempts that passed."""

    values: Column
    passes: Column


def scores(cases: Iterable[Attempted], metrics: Iterable[str]) -> dict[str, Scores]:
    """The scores of each metric."""
    made = {name: Scores([], []) for name in metrics}
    for results in cases:
        found = [{score.metric: score for score in one.scores} for one in results]
        if len(found) == 1:
            _add_one(made, found[0])
        else:
            _add_several(made, found)
    return made


def _add_one(made: dict[str, Scores], found: dict[str, CaseScore]) -> None:
    for name, (values, passes) in made.items():
        score = found.get(name)
        values.append(score.value if score else None)
        passes.append(_VERDICTS.get(score.status) if score else None)


def _add_several(made: dict[str, Scores], found: Sequence[dict[str, CaseScore]]) -> None:
    for name, (values, passes) in made.items():
        known = [one[name] for one in found if name in one]
        values.append(_mean([score.value for score in known]))
        passes.append(_mean([_VERDICTS.get(score.status) for score in known]))


def pass_rates(cases: Iterable[Attempted]) -> Column:
    """How many of the attempts that have a verdict passed."""
    return [_mean([_VERDICTS.get(one.status) for one in results]) for results in cases]


def _mean(values: Sequence[float | None]) -> float | None:
    if len(values) == 1:
        return values[0]
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


class Joined(NamedTuple):
    """Two columns where both have a number, and the cases where only one has."""

    before: list[float]
    after: list[float]
    lost: tuple[str, ...]
    gained: tuple[str, ...]

    def differences(self) -> list[float]:
        """After minus before."""
        return [new - old for old, new in zip(self.before, self.after, strict=True)]


def join(names: Sequence[str], old: Column, new: Column) -> Joined:
    """Two columns of the same cases."""
    rows = [*zip(names, old, new, strict=True)]
    both = [(one, other) for _, one, other in rows if one is not None and other is not None]
    return Joined(
        before=[one for one, _ in both],
        after=[other for _, other in both],
        lost=tuple(name for name, one, other in rows if one is not None and other is None),
        gained=tuple(name for name, one, other in rows if one is None and other is not None),
    )
