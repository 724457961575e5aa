from __future__ import annotations

import json

from carob.schema import Json, Span, Trace, Usage
from carob.traces.mapping.traces import to_traces


def span(title: str, key: str, parent: str | None, **attributes: Json) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=title,
        start=int(key),
        end=int(key) + 1,
        attributes=attributes,
        scope="logfire.openai_agents",
    )


def to_trace(group: str) -> Trace:
    call: Json = {"type": "function_call", "call_id": "c1", "name": "tide", "arguments": "{}"}
    usage: Json = {"input_tokens": 9, "output_tokens_details": {"reasoning_tokens": 2}}
    model: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "raw_input": json.dumps([{"role": "user", "content": "tide?"}]),
        "response": json.dumps({"id": "r1", "output": [call], "text": {"format": {}}}),
        "usage": json.dumps(usage),
    }
    last: dict[str, Json] = {"output": json.dumps([{"role": "assistant", "content": "six"}])}
    (trace,) = to_traces(
        [
            span("OpenAI Agents trace: {name}", "1", None, name="Agent workflow", group_id=group),
            span("Agent run: {name!r}", "2", "1", name="pilot"),
            span("Responses API with {gen_ai.request.model!r}", "3", "2", **model),
            span("Function: {name}", "5", "2", name="tide", input="{}", output="at six"),
            span("Chat completion with {gen_ai.request.model!r}", "7", "2", **last),
        ]
    )
    return trace


def test_logfire_spans_of_the_openai_agents_sdk_are_read():
    trace = to_trace("s-1")
    turn = trace.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("tide?", "six", ("pilot",))
    assert [(call.id, call.args) for call in turn.tool_calls or ()] == [("c1", {})]
    assert [result.result for result in turn.tool_results] == ["at six"]
    first, last = (call.usage for call in turn.model_calls)
    assert (first, last) == (Usage(input_tokens=9, reasoning_tokens=2), Usage())
    assert trace.usage == Usage()  # of two calls, one is not counted


def test_null_group_is_not_a_conversation():
    assert (to_trace("s-1").conversation, to_trace("null").conversation) == ("s-1", None)
