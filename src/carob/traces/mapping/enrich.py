"""Add timings and model calls from spans to a trace that lacks them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from carob.schema import Json, Span, ToolCall, ToolResult, Trace, Turn
from carob.traces.mapping.traces import to_traces


def enrich(trace: Trace, span_turns: Sequence[Turn]) -> Trace:
    """Add times and model calls from turns that spans record of the same session.

    The turns are matched one by one if there are equally many, else all go to the last turn.
    """
    if not span_turns or not trace.turns:
        return trace
    if len(span_turns) == len(trace.turns):
        pairs = zip(trace.turns, span_turns, strict=True)
        turns = [_add_times(turn, [span_turn]) for turn, span_turn in pairs]
    else:
        turns = [*trace.turns[:-1], _add_times(trace.turns[-1], span_turns)]
    turns[-1] = _add_call_times(turns[-1], span_turns)
    return msgspec.structs.replace(trace, turns=tuple(turns))


def turns_from_spans(spans: Iterable[Span]) -> list[Turn]:
    """Return the turns that spans record, in order of time."""
    # Sorting all spans first puts the traces in order of their first span as well, because a dict
    # keeps the order in which its keys were added.
    by_trace: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.start or 0):
        by_trace.setdefault(span.trace_id, []).append(span)
    traces = (trace for group in by_trace.values() for trace in to_traces(group))
    return [turn for trace in traces for turn in trace.turns]


def _add_times(turn: Turn, span_turns: Sequence[Turn]) -> Turn:
    return msgspec.structs.replace(
        turn,
        model_calls=tuple(call for span_turn in span_turns for call in span_turn.model_calls),
        agents=turn.agents
        or tuple(agent for span_turn in span_turns for agent in span_turn.agents),
        grounding=_grounding(turn, span_turns),
        error=turn.error
        or next((span_turn.error for span_turn in span_turns if span_turn.error), None),
        start=min(
            (span_turn.start for span_turn in span_turns if span_turn.start is not None),
            default=None,
        ),
        end=max(
            (span_turn.end for span_turn in span_turns if span_turn.end is not None),
            default=None,
        ),
    )


def _grounding(turn: Turn, span_turns: Sequence[Turn]) -> tuple[Json, ...] | None:
    if turn.grounding is not None:
        return turn.grounding
    return tuple(chunk for span_turn in span_turns for chunk in span_turn.grounding or ()) or None


def _add_call_times(turn: Turn, span_turns: Sequence[Turn]) -> Turn:
    """Add times to the last turn, which has the tool calls of the whole session."""
    executed = [call for span_turn in span_turns for call in span_turn.tool_calls or ()]
    results = tuple(result for span_turn in span_turns for result in span_turn.tool_results)
    if turn.tool_calls is None:
        has_calls = any(span_turn.tool_calls is not None for span_turn in span_turns)
        calls = tuple(executed) if has_calls else None
        return msgspec.structs.replace(turn, tool_calls=calls, tool_results=results)
    return msgspec.structs.replace(
        turn,
        tool_calls=tuple(_add_call_time(call, executed) for call in turn.tool_calls),
        tool_results=tuple(_add_error(result, results) for result in turn.tool_results) or results,
    )


def _add_call_time(call: ToolCall, executed: list[ToolCall]) -> ToolCall:
    """Match by id, else by name in order; each executed call is used once."""
    same_id = [
        candidate for candidate in executed if candidate.id is not None and candidate.id == call.id
    ]
    same_name = (candidate for candidate in executed if candidate.name == call.name)
    match = next(iter([*same_id, *same_name]), None)
    if match is None:
        return call
    executed.remove(match)
    agent = call.agent or match.agent
    return msgspec.structs.replace(call, start=match.start, end=match.end, agent=agent)


def _add_error(result: ToolResult, span_results: Iterable[ToolResult]) -> ToolResult:
    """Add the error that only the tool's span records."""
    same = (
        candidate.error
        for candidate in span_results
        if candidate.id is not None and candidate.id == result.id
    )
    error = result.error or next((error for error in same if error), None)
    return msgspec.structs.replace(result, error=error)
