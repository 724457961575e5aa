"""Turns of the case paired with turns of the trace, and scores averaged over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, cast

from carob.schema import Case, Json, Score, Trace, Turn, Unscored


class TurnPair(NamedTuple):
    """A turn of the case and the turn of the trace in the same position; `None` if missing."""

    number: int
    golden: Turn | None
    actual: Turn | None


def pair_turns(case: Case, trace: Trace) -> Iterator[TurnPair]:
    """Pair turns by position, up to the longer of the two conversations."""
    for number, (golden, actual) in enumerate(zip_longest(case.turns, trace.turns), 1):
        yield TurnPair(number, golden, actual)


def mean(values: Sequence[float]) -> float:
    """Return the mean, bit for bit the one that ADK computes."""
    # Added from left to right: from Python 3.12 on, `sum` compensates for rounding and differs.
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def score_by_turn(
    case: Case, trace: Trace, rate: Callable[[TurnPair], Score | Unscored]
) -> Score | Unscored:
    """Rate each pair of turns and return the mean over those that have a score.

    The `details` of all scores must have numbers as values.
    """
    outcomes = [rate(pair) for pair in pair_turns(case, trace)]
    scores = [outcome for outcome in outcomes if isinstance(outcome, Score)]
    if not scores:
        return join_unscored([outcome for outcome in outcomes if isinstance(outcome, Unscored)])
    if len(outcomes) == 1:  # the usual case, without the cost of joining
        only = scores[0]
        return Score(mean([only.value]), only.reason, (only.value,), only.details)
    turns = tuple(outcome.value if isinstance(outcome, Score) else None for outcome in outcomes)
    reason = join_reasons((score.reason for score in scores), turns)
    return Score(mean([score.value for score in scores]), reason, turns, _mean_details(scores))


def join_unscored(turns: Sequence[Unscored]) -> Unscored:
    """Join the reasons of turns of which none has a score. The metric is not applicable only if no
    turn asks for it."""
    reasons = dict.fromkeys(turn.reason for turn in turns)
    return Unscored(
        reason="; ".join(reasons) or "there are no turns",
        not_applicable=all(turn.not_applicable for turn in turns),
    )


def _mean_details(scores: Sequence[Score]) -> dict[str, Json]:
    values: dict[str, list[float]] = {}
    for score in scores:  # a turn without a response has no details
        for key, value in score.details.items():
            values.setdefault(key, []).append(cast("float", value))
    return {key: mean(numbers) for key, numbers in values.items()}


def join_reasons(reasons: Iterable[str], turns: Sequence[float | None]) -> str:
    """Join the reasons of the scored turns, with turn numbers if there are several turns."""
    numbers = [number for number, value in enumerate(turns, 1) if value is not None]
    numbered = [(number, reason) for number, reason in zip(numbers, reasons, strict=True) if reason]
    if len(turns) == 1:
        return "".join(reason for _, reason in numbered)
    return "; ".join(f"turn {number}: {reason}" for number, reason in numbered)
