"""Add timings and model calls from spans to a trace that lacks them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from carob.schema import Json, Span, ToolCall, ToolResult, Trace, Turn
from carob.traces.mapping.traces import to_traces


def enrich(trace: Trace, recorded: Sequence[Turn]) -> Trace:
    """Add times and model calls from turns that spans record of the same session.

    The turns are matched one by one if there are equally many, else all go to the last turn.
    """
    if not recorded or not trace.turns:
        return trace
    if len(recorded) == len(trace.turns):
        pairs = zip(trace.turns, recorded, strict=True)
        turns = [_add_times(turn, [other]) for turn, other in pairs]
    else:
        turns = [*trace.turns[:-1], _add_times(trace.turns[-1], recorded)]
    turns[-1] = _add_call_times(turns[-1], recorded)
    return msgspec.structs.replace(trace, turns=tuple(turns))


def turns_from_spans(spans: Iterable[Span]) -> list[Turn]:
    """Return the turns that spans record, in order of time."""
    by_trace: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.start or 0):
        by_trace.setdefault(span.trace_id, []).append(span)
    traces = (trace for group in by_trace.values() for trace in to_traces(group))
    return [turn for trace in traces for turn in trace.turns]


def _add_times(turn: Turn, recorded: Sequence[Turn]) -> Turn:
    return msgspec.structs.replace(
        turn,
        model_calls=tuple(call for other in recorded for call in other.model_calls),
        agents=turn.agents or tuple(agent for other in recorded for agent in other.agents),
        grounding=_grounding(turn, recorded),
        error=turn.error or next((other.error for other in recorded if other.error), None),
        start=min((other.start for other in recorded if other.start is not None), default=None),
        end=max((other.end for other in recorded if other.end is not None), default=None),
    )


def _grounding(turn: Turn, recorded: Sequence[Turn]) -> tuple[Json, ...] | None:
    if turn.grounding is not None:
        return turn.grounding
    return tuple(chunk for other in recorded for chunk in other.grounding or ()) or None


def _add_call_times(turn: Turn, recorded: Sequence[Turn]) -> Turn:
    """Add times to the last turn, which has the tool calls of the whole session."""
    executed = [call for other in recorded for call in other.tool_calls or ()]
    results = tuple(result for other in recorded for result in other.tool_results)
    if turn.tool_calls is None:
        has_calls = any(other.tool_calls is not None for other in recorded)
        calls = tuple(executed) if has_calls else None
        return msgspec.structs.replace(turn, tool_calls=calls, tool_results=results)
    return msgspec.structs.replace(
        turn,
        tool_calls=tuple(_add_call_time(call, executed) for call in turn.tool_calls),
        tool_results=tuple(_add_error(result, results) for result in turn.tool_results) or results,
    )


def _add_call_time(call: ToolCall, executed: list[ToolCall]) -> ToolCall:
    """Match by id, else by name in order; each executed call is used once."""
    same_id = [other for other in executed if other.id is not None and other.id == call.id]
    same_name = (other for other in executed if other.name == call.name)
    match = next(iter([*same_id, *same_name]), None)
    if match is None:
        return call
    executed.remove(match)
    agent = call.agent or match.agent
    return msgspec.structs.replace(call, start=match.start, end=match.end, agent=agent)


def _add_error(result: ToolResult, recorded: Iterable[ToolResult]) -> ToolResult:
    """Add the error that only the tool's span records."""
    same = (other.error for other in recorded if other.id is not None and other.id == result.id)
    error = result.error or next((error for error in same if error), None)
    return msgspec.structs.replace(result, error=error)
