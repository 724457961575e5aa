from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces

SERVED: dict[str, Json] = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "find",
}


def span(key: str, parent: str | None, kind: str, attributes: dict[str, Json]) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=key,
        kind=kind,
        start=1,
        end=2,
        attributes=attributes,
    )


def test_call_that_an_mcp_server_recorded_alone_is_no_session():
    assert to_traces([span("tools/call find", None, "server", SERVED)]) == []


def test_call_to_an_mcp_server_is_counted_once():
    agent = span("agent", None, "internal", {"gen_ai.operation.name": "invoke_agent"})
    tool = span(
        "execute_tool mcp__shop__find",
        "agent",
        "internal",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mcp__shop__find"},
    )
    server = span("tools/call find", "execute_tool mcp__shop__find", "server", SERVED)
    (trace,) = to_traces([agent, tool, server])
    assert [call.name for call in trace.turns[0].tool_calls or ()] == ["mcp__shop__find"]
