from __future__ import annotations

import json

from carob.schema import Json, Span, Turn
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, kind: str, **more: Json) -> Span:
    held: dict[str, Json] = {word: json.dumps(value) for word, value in more.items()}
    held |= {"mlflow.spanType": json.dumps(kind)}
    return Span("t1", key, parent, key, start=start, end=start + 1, attributes=held)


def turn(*spans: Span) -> Turn:
    (found,) = to_traces(spans)
    return found.turns[0]


def test_a_method_is_not_an_agents_name():
    run = span("AgentRunner.run", None, 1, "AGENT")
    assert turn(run, span("pilot", "AgentRunner.run", 2, "AGENT")).agents == ("pilot",)
    assert turn(span("Agent.run", None, 1, "AGENT", name="pilot")).agents == ("pilot",)


def test_a_chain_that_bears_the_name_of_langchains_agent_is_the_agent():
    graph = span("pilot", None, 1, "CHAIN", metadata={"lc_agent_name": "pilot"})
    node = span("tools", "pilot", 2, "CHAIN", metadata={"lc_agent_name": "pilot"})
    assert turn(graph, node, span("tide", "tools", 3, "TOOL")).agents == ("pilot",)


def test_pydantic_ais_own_messages_tell_calls_by_id():
    asked = [
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
    model.attributes["mlflow.spanInputs"] = json.dumps({"messages": asked})
    model.attributes["mlflow.spanOutputs"] = json.dumps({"kind": "response", "parts": [call]})
    found = turn(model)
    assert found.user == "tide in Oslo?"
    assert [(call.name, call.args, call.id) for call in found.tool_calls or ()] == [("tide", {}, "c1")]
