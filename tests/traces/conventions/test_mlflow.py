from __future__ import annotations

import json

from carob.schema import Json, Span, Turn
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, kind: str, **more: Json) -> Span:
    attributes: dict[str, Json] = {word: json.dumps(value) for word, value in more.items()}
    attributes |= {"mlflow.spanType": json.dumps(kind)}
    return Span("t1", key, parent, key, start=start, end=start + 1, attributes=attributes)


def to_turn(*spans: Span) -> Turn:
    (trace,) = to_traces(spans)
    return trace.turns[0]


def test_method_is_not_an_agent_name():
    run = span("AgentRunner.run", None, 1, "AGENT")
    assert to_turn(run, span("pilot", "AgentRunner.run", 2, "AGENT")).agents == ("pilot",)
    assert to_turn(span("Agent.run", None, 1, "AGENT", name="pilot")).agents == ("pilot",)


def test_chain_named_like_the_langchain_agent_is_the_agent():
    graph = span("pilot", None, 1, "CHAIN", metadata={"lc_agent_name": "pilot"})
    node = span("tools", "pilot", 2, "CHAIN", metadata={"lc_agent_name": "pilot"})
    assert to_turn(graph, node, span("tide", "tools", 3, "TOOL")).agents == ("pilot",)


def test_pydantic_ai_messages_match_calls_by_id():
    messages = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "tide?"}]},
        {
            "kind": "request",
            "parts": [
                {"part_kind": "system-prompt", "content": "be brief"},
                {"part_kind": "user-prompt", "content": "tide in Oslo?"},
            ],
        },
    ]
    call = {"part_kind": "tool-call", "tool_name": "tide", "args": "{}", "tool_call_id": "c1"}
    model = span("Model.request", None, 1, "LLM")
    model.attributes["mlflow.spanInputs"] = json.dumps({"messages": messages})
    model.attributes["mlflow.spanOutputs"] = json.dumps({"kind": "response", "parts": [call]})
    turn = to_turn(model)
    assert turn.user == "tide in Oslo?"
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("tide", {}, "c1")
    ]


def test_tool_of_dspy_has_its_own_name():
    run = span("ReAct.forward", None, 1, "CHAIN")
    turn = to_turn(run, span("Tool.tide", "ReAct.forward", 2, "TOOL", name="tide"))
    assert [call.name for call in turn.tool_calls or ()] == ["tide"]
