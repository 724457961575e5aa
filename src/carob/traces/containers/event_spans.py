"""Spans that a converter made from ADK events, in the `session_trace` column of simulation tables.

The converter turns each event of an agent into a span that starts when the event was written and
lasts one second. A model call whose answer is a tool call becomes `execute_tool X`, with the tokens
of the model call, and so does the event with the tool's result. Read as real spans, these calls
would lose their tokens and every step would take a second, so they are read as events again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from carob.schema import ModelCall, Span, ToolCall, ToolResult, Turn, Usage
from carob.traces.conventions.adk import Adk

_TOOL = "execute_tool "
_STEP_NS, _ROUNDING_NS = 10**9, 1000
_NO_MODEL = "unknown"
"""What the converter writes for an event without a model."""
_ARGS, _RESULT = "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"
_TOOL_KEYS = ("gen_ai.tool.", "gcp.vertex.agent.tool_")
_ADK = Adk()


def are_event_spans(spans: Sequence[Span]) -> bool:
    """Whether the spans were made from events: each step takes exactly one second, and either tools
    count tokens or no two spans are of the same trace."""
    steps = [span for span in spans if _is_step(span)]
    if not steps or not all(map(_takes_a_second, steps)):
        return False
    traces = {span.trace_id for span in spans}
    return any(map(_is_requested_tool, steps)) or 2 < len(spans) == len(traces)


def event_span_turns(spans: Sequence[Span]) -> list[Turn]:
    """Return the turns of the events that the spans were made from, without their texts."""
    turns: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: (span.start or 0, _is_step(span))):
        if span.name == "invocation" or not turns:
            turns.append([])
        if span.name == "invocation" or _is_step(span):
            turns[-1].append(span)
    return [_turn(events) for events in turns if events]


def split_requested_tools(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield a model call before each tool span that counts tokens: that of the call that asked for
    the tool, which had answered when the tool started."""
    for span in spans:
        if not _is_requested_tool(span):
            yield span
            continue
        tool = {key: value for key, value in span.attributes.items() if key.startswith(_TOOL_KEYS)}
        model = {key: value for key, value in span.attributes.items() if key not in tool}
        yield msgspec.structs.replace(
            span,
            span_id=f"{span.span_id}-model",
            name="call_llm",
            attributes=model,
            end=span.start,
        )
        yield msgspec.structs.replace(span, attributes=tool)


def _is_step(span: Span) -> bool:
    return span.name == "call_llm" or span.name.startswith(_TOOL)


def _takes_a_second(span: Span) -> bool:
    if span.start is None or span.end is None:
        return False
    # The converter computes with floats, which are some hundred nanoseconds apart.
    return abs(span.end - span.start - _STEP_NS) <= _ROUNDING_NS


def _is_requested_tool(span: Span) -> bool:
    return span.name.startswith(_TOOL) and _ADK.usage(span) != Usage()


def _model_call(span: Span) -> ModelCall | None:
    model, usage = _ADK.model_name(span), _ADK.usage(span)
    model = None if model == _NO_MODEL else model
    if model is None and usage == Usage():
        return None
    finish = _ADK.finish_reason(span)
    return ModelCall(model=model, usage=usage, finish_reason=finish, end=span.start)


def _turn(events: Sequence[Span]) -> Turn:
    times = [span.start for span in events if span.start is not None]
    calls, results = _tool_events([span for span in events if span.name.startswith(_TOOL)])
    return Turn(
        model_calls=tuple(call for span in events if (call := _model_call(span)) is not None),
        tool_calls=tuple(calls),
        tool_results=tuple(results),
        start=min(times, default=None),
        end=max(times, default=None),
    )


def _tool_events(tools: Sequence[Span]) -> tuple[list[ToolCall], list[ToolResult]]:
    """Return the calls and results; a result ends the last open call of its tool."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    open_calls: dict[str, int] = {}
    for span in tools:
        tool = _ADK.tool(span)
        name = span.name.removeprefix(_TOOL)
        is_call = _ARGS in span.attributes or _is_requested_tool(span)
        if name in open_calls and not is_call:
            index = open_calls.pop(name)
            calls[index] = msgspec.structs.replace(calls[index], end=span.start)
        elif _RESULT not in span.attributes:
            open_calls[name] = len(calls)
            calls.append(ToolCall(name=name, args=tool.args, start=span.start))
        if _RESULT in span.attributes and tool.output is not None:
            results.append(ToolResult(name=name, result=tool.output.value))
    return calls, results
