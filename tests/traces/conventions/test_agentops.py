from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces


def span(name: str, key: str, parent: str | None, attributes: dict[str, Json]) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=name,
        start=int(key),
        end=int(key) + 1,
        attributes=attributes,
    )


def test_decorated_tools_are_matched_with_the_calls_of_the_model():
    chat: dict[str, Json] = {
        "gen_ai.request.model": "m",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "When?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.finish_reason": "tool_calls",
    }
    call_attributes: dict[str, Json] = {
        "agentops.span.kind": "AgentOpsSpanKindValues.TOOL",
        "tool.name": "tide",
        "tool.parameters": '{"city": "Oslo"}',
        "tool.call.id": "c1",
    }
    ran: dict[str, Json] = {
        "agentops.span.kind": "tool",
        "operation.name": "tide",
        "agentops.tool.input": '{"args": [], "kwargs": {"city": "Oslo"}}',
        "agentops.tool.output": "six",
    }
    (trace,) = to_traces(
        [
            span("default.session", "1", None, {"agentops.span.kind": "session"}),
            span("a", "2", "1", {"agentops.span.kind": "agent", "operation.name": "guide"}),
            span("openai.chat.completion", "3", "2", chat),
            span("tool_call.tide", "4", "3", call_attributes),
            span("tide.tool", "5", "2", ran),
        ]
    )
    turn = trace.turns[0]
    assert (turn.user, turn.agents) == ("When?", ("guide",))
    assert [(c.id, c.args) for c in turn.tool_calls or ()] == [("c1", {"city": "Oslo"})]
    assert [(r.id, r.result) for r in turn.tool_results] == [("c1", "six")]
