"""Telemetry of coding agents."""

from __future__ import annotations

import json

from carob.schema import Json, Span, SpanEvent, Turn
from carob.traces.mapping.traces import to_traces


def span(name: str, start: int, *events: SpanEvent, **attributes: Json) -> Span:
    return Span(
        trace_id="t1",
        span_id=f"{name}{start}",
        parent_id=None if start == 1 else "root1",
        name=name,
        start=start,
        end=start + 1,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
        events=events,
    )


def to_turn(*spans: Span) -> Turn:
    first = spans[0]
    root = Span(
        trace_id="t1",
        span_id="root1",
        name=first.name,
        start=1,
        end=99,
        attributes=first.attributes,
    )
    (trace,) = to_traces([root, *spans[1:]])
    return trace.turns[0]


def test_claude_code_records_requests_and_tools():
    output = SpanEvent(name="tool.output", attributes={"content": "a.txt"})
    turn = to_turn(
        span("claude_code.interaction", 1, span__type="interaction", user_prompt="List."),
        span("claude_code.llm_request", 2, span__type="llm_request", model="c", input_tokens=9),
        span("claude_code.tool", 4, output, span__type="tool", tool_name="Bash", tool_use_id="u1"),
        span("claude_code.tool.execution", 5, span__type="tool.execution", tool_use_id="u1"),
    )
    assert (turn.user, turn.response) == ("List.", None)
    assert [(call.name, call.id) for call in turn.tool_calls or ()] == [("Bash", "u1")]
    assert [result.result for result in turn.tool_results] == ["a.txt"]
    assert [(call.model, call.usage.input_tokens) for call in turn.model_calls] == [("c", 9)]


def test_gemini_cli_operations_are_read():
    parts: Json = [{"functionCall": {"name": "find", "args": {"id": 7}}}]
    answer = json.dumps([{"content": {"role": "model", "parts": parts}}])
    turn = to_turn(
        span("p", 1, gen_ai__operation__name="user_prompt", gen_ai__input__messages="Where?"),
        span("l", 2, gen_ai__operation__name="llm_call", gen_ai__output__messages=answer),
        span("t", 4, gen_ai__operation__name="tool_call", gen_ai__tool__name="find"),
    )
    assert turn.user == "Where?"
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]
    assert len(turn.model_calls) == 1
