"""Golden turns beside recorded turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, cast

from carob.schema import Case, Json, Score, Trace, Turn, Unscored


class Pair(NamedTuple):
    """A turn of each side; `None` where a side has no such turn."""

    number: int
    golden: Turn | None
    actual: Turn | None


def pairs(case: Case, trace: Trace) -> Iterator[Pair]:
    """Turns side by side, up to the longer of the two."""
    for number, (golden, actual) in enumerate(zip_longest(case.turns, trace.turns), 1):
        yield Pair(number, golden, actual)


def mean(values: Sequence[float]) -> float:
    """The mean, summed from left to right as ADK does; `sum` does that only before Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def per_turn(
    case: Case, trace: Trace, rate: Callable[[Pair], Score | Unscored]
) -> Score | Unscored:
    """The mean over the turns that can be scored, with each turn's number in the reasons. All turns
    tell the same details, which are numbers."""
    rated = [rate(pair) for pair in pairs(case, trace)]
    scores = [score for score in rated if isinstance(score, Score)]
    if not scores:
        reasons = dict.fromkeys(score.reason for score in rated if isinstance(score, Unscored))
        return Unscored(reason="; ".join(reasons) or "there are no turns")
    if len(rated) == 1:  # most often, and there is nothing to put together
        only = scores[0]
        return Score(mean([only.value]), only.reason, (only.value,), only.details)
    turns = tuple(score.value if isinstance(score, Score) else None for score in rated)
    reason = joined((score.reason for score in rated if isinstance(score, Score)), turns)
    return Score(mean([score.value for score in scores]), reason, turns, _means(scores))


def _means(scores: Sequence[Score]) -> dict[str, Json]:
    """The means of the numbers that every turn tells beside its score."""
    told = [score.details for score in scores]
    return {key: mean([cast("float", one[key]) for one in told]) for key in told[0]}


def joined(reasons: Iterable[str], turns: Sequence[float | None]) -> str:
    """Reasons of scored turns in one line; a turn is named where there is more than one."""
    numbers = [number for number, value in enumerate(turns, 1) if value is not None]
    told = [(number, reason) for number, reason in zip(numbers, reasons, strict=True) if reason]
    if len(turns) == 1:
        return "".join(reason for _, reason in told)
    return "; ".join(f"turn {number}: {reason}" for number, reason in told)
