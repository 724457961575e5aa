from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, end: int, attributes: dict[str, Json]) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=key,
        start=start,
        end=end,
        attributes=attributes,
    )


def test_tools_of_a_model_call_are_in_spring_ai_attributes():
    own: dict[str, Json] = {"gen_ai.operation.name": "framework", "gen_ai.system": "spring_ai"}
    client = span("client", None, 1, 9, {**own, "spring.ai.kind": "chat_client"})
    model: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.usage.input_tokens": "10",
        "gen_ai.prompt": '["Where?"]',
        "gen_ai.completion": '["It shipped."]',
    }
    tool: dict[str, Json] = {
        **own,
        "spring.ai.kind": "tool_call",
        "spring.ai.tool.definition.name": "find",
        "spring.ai.tool.call.arguments": '{"id": 7}',
        "spring.ai.tool.call.result": '"shipped"',
    }
    spans = [client, span("chat", "client", 2, 8, model), span("tool", "chat", 3, 4, tool)]
    (turn,) = to_traces(spans)[0].turns
    assert (turn.user, turn.response) == ("Where?", "It shipped.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]
    assert [result.result for result in turn.tool_results] == ["shipped"]
    assert [call.usage.input_tokens for call in turn.model_calls] == [10]
