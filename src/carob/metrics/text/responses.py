"""Responses of a trace with the expectations of the case, as text metrics read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from carob.metrics.needs import records_text
from carob.metrics.turns import TurnPair, score_by_turn
from carob.schema import Case, Score, Trace, Turn, Unscored


class RecordedResponse(NamedTuple):
    """A response, and what the case and the trace say about it."""

    response: str
    user: str
    reference: str | None
    context: str
    sources: str
    """Tool results and retrieved chunks of this turn."""


def rate_against_reference(
    case: Case, trace: Trace, rate: Callable[[str, str], Score]
) -> Score | Unscored:
    """Return the mean of `rate(reference, response)` over the turns that expect a response."""
    if all(turn.response is None for turn in case.turns):
        return Unscored(reason="the case expects no response", not_applicable=True)
    return score_by_turn(case, trace, lambda pair: _rate_pair(trace, pair, rate))


def rate_responses(
    case: Case,
    trace: Trace,
    rate: Callable[[RecordedResponse], Score | Unscored],
    *,
    needs_reference: bool = False,
    needs_response: bool = False,
) -> Score | Unscored:
    """Return the mean of `rate(response)` over the turns that have a response. With
    `needs_reference`, only over those that expect one. With either, a turn that expects a response
    and has none scores 0."""
    if needs_reference and all(turn.response is None for turn in case.turns):
        return Unscored(reason="the case expects no response", not_applicable=True)

    def rate_pair(pair: TurnPair) -> Score | Unscored:
        expected = pair.golden is not None and pair.golden.response is not None
        is_missing = pair.actual is None or pair.actual.response is None
        if needs_reference and not expected:
            return NOT_EXPECTED
        if is_missing and expected and (needs_reference or needs_response):
            return missing_response(trace, pair.actual)
        return _rate_response(case, pair, rate)

    return score_by_turn(case, trace, rate_pair)


def missing_response(trace: Trace, turn: Turn | None) -> Score | Unscored:
    """Score a turn without the expected response: 0 if the agent gave none.

    Unscored if it was not recorded: in a trace without any text, and in the earlier turns of a
    simulation table, whose columns have the last response only.
    """
    if turn is not None and turn.error is not None:
        return Score(value=0.0, reason=f"no response: {turn.error}")
    if not records_text(trace):
        return NO_RESPONSE
    if turn is None:
        return Score(value=0.0, reason="the turn is missing")
    if trace.convention == "simulation" and turn is not trace.turns[-1]:
        return NO_RESPONSE
    return Score(value=0.0, reason="no response")


NO_RESPONSE = Unscored(reason="the response was not recorded")
NOT_EXPECTED = Unscored(reason="the turn expects no response", not_applicable=True)


def _rate_pair(trace: Trace, pair: TurnPair, rate: Callable[[str, str], Score]) -> Score | Unscored:
    if pair.golden is None or pair.golden.response is None:
        return NOT_EXPECTED
    if pair.actual is None or pair.actual.response is None:
        return missing_response(trace, pair.actual)
    return rate(pair.golden.response, pair.actual.response)


def _rate_response(
    case: Case, pair: TurnPair, rate: Callable[[RecordedResponse], Score | Unscored]
) -> Score | Unscored:
    golden, actual = pair.golden, pair.actual
    if actual is None or actual.response is None:
        return NO_RESPONSE
    results = [str(result.result) for result in actual.tool_results if result.result is not None]
    return rate(
        RecordedResponse(
            response=actual.response,
            user=(golden.user if golden else None) or actual.user or "",
            reference=golden.response if golden else None,
            context=case.context or "",
            sources="\n".join([*results, *map(str, actual.grounding or ())]),
        )
    )
