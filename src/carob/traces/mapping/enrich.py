"""What others lend to a recording that tells what was said and done, and not when and by what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from carob.schema import Json, Span, ToolCall, ToolResult, Trace, Turn
from carob.traces.mapping.traces import to_traces


def enrich(trace: Trace, told: Sequence[Turn]) -> Trace:
    """The recording with the times and the model calls that others tell of it: turn by turn if they
    tell of as many, else all in the last."""
    if not told or not trace.turns:
        return trace
    if len(told) == len(trace.turns):
        turns = [_timed(turn, [one]) for turn, one in zip(trace.turns, told, strict=True)]
    else:
        turns = [*trace.turns[:-1], _timed(trace.turns[-1], told)]
    turns[-1] = _ran(turns[-1], told)
    return msgspec.structs.replace(trace, turns=tuple(turns))


def turns_from_spans(spans: Iterable[Span]) -> list[Turn]:
    """The turns that spans tell of."""
    by_trace: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.start or 0):
        by_trace.setdefault(span.trace_id, []).append(span)
    made = (trace for some in by_trace.values() for trace in to_traces(some))
    return [turn for trace in made for turn in trace.turns]


def _timed(turn: Turn, told: Sequence[Turn]) -> Turn:
    return msgspec.structs.replace(
        turn,
        model_calls=tuple(call for one in told for call in one.model_calls),
        agents=turn.agents or tuple(agent for one in told for agent in one.agents),
        grounding=_grounding(turn, told),
        error=turn.error or next((one.error for one in told if one.error), None),
        start=min((one.start for one in told if one.start is not None), default=None),
        end=max((one.end for one in told if one.end is not None), default=None),
    )


def _grounding(turn: Turn, told: Sequence[Turn]) -> tuple[Json, ...] | None:
    if turn.grounding is not None:
        return turn.grounding
    return tuple(chunk for one in told for chunk in one.grounding or ()) or None


def _ran(turn: Turn, told: Sequence[Turn]) -> Turn:
    """The turn that has the calls of the whole session, with the times at which they ran."""
    ran = [call for one in told for call in one.tool_calls or ()]
    results = tuple(result for one in told for result in one.tool_results)
    if turn.tool_calls is None:
        calls = tuple(ran) if any(one.tool_calls is not None for one in told) else None
        return msgspec.structs.replace(turn, tool_calls=calls, tool_results=results)
    return msgspec.structs.replace(
        turn,
        tool_calls=tuple(_when(call, ran) for call in turn.tool_calls),
        tool_results=tuple(_failed(result, results) for result in turn.tool_results) or results,
    )


def _when(call: ToolCall, ran: list[ToolCall]) -> ToolCall:
    """The call with its times, by its id, else by its name in the order of the calls left."""
    same = [one for one in ran if one.id is not None and one.id == call.id]
    found = next(iter([*same, *(one for one in ran if one.name == call.name)]), None)
    if found is None:
        return call
    ran.remove(found)
    agent = call.agent or found.agent
    return msgspec.structs.replace(call, start=found.start, end=found.end, agent=agent)


def _failed(result: ToolResult, told: Iterable[ToolResult]) -> ToolResult:
    """The result with the error that only its span tells."""
    same = (one.error for one in told if one.id is not None and one.id == result.id)
    error = result.error or next((error for error in same if error), None)
    return msgspec.structs.replace(result, error=error)
