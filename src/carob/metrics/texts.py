"""Responses beside what is expected of them, for the metrics of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from carob.metrics.pairs import Pair, per_turn
from carob.schema import Case, Score, Trace, Turn, Unscored


class Answer(NamedTuple):
    """A recorded response, and what golden data says about it."""

    response: str
    user: str
    reference: str | None
    context: str
    sources: str
    """What the agent retrieved in this turn."""


def against_reference(
    case: Case, trace: Trace, rate: Callable[[str, str], Score]
) -> Score | Unscored:
    """The mean of `rate(reference, response)` over the turns that expect a response."""
    if all(turn.response is None for turn in case.turns):
        return Unscored(reason="the case expects no response")
    return per_turn(case, trace, lambda pair: _rated(pair, rate))


def of_answers(
    case: Case, trace: Trace, rate: Callable[[Answer], Score | Unscored]
) -> Score | Unscored:
    """The mean of `rate(answer)` over the turns that recorded a response."""
    return per_turn(case, trace, lambda pair: _answered(case, pair, rate))


def unanswered(turn: Turn) -> Score | Unscored:
    """A turn without a response: an agent that is known to have failed has answered nothing."""
    if turn.error is not None:
        return Score(value=0.0, reason=f"no response: {turn.error}")
    return Unscored(reason="the response was not recorded")


def _rated(pair: Pair, rate: Callable[[str, str], Score]) -> Score | Unscored:
    if pair.golden is None or pair.golden.response is None:
        return Unscored(reason="the turn expects no response")
    if pair.actual is None:
        return Score(value=0.0, reason="the turn is missing")
    if pair.actual.response is None:
        return unanswered(pair.actual)
    return rate(pair.golden.response, pair.actual.response)


def _answered(
    case: Case, pair: Pair, rate: Callable[[Answer], Score | Unscored]
) -> Score | Unscored:
    golden, actual = pair.golden, pair.actual
    if actual is None or actual.response is None:
        return Unscored(reason="the response was not recorded")
    results = [str(result.result) for result in actual.tool_results if result.result is not None]
    return rate(
        Answer(
            response=actual.response,
            user=(golden.user if golden else None) or actual.user or "",
            reference=golden.response if golden else None,
            context=case.context or "",
            sources="\n".join([*results, *map(str, actual.grounding or ())]),
        )
    )
