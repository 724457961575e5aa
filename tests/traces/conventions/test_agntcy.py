"""A supervisor and a detector that AGNTCY's SDK records, with the model calls of OpenLLMetry."""

from __future__ import annotations

import json

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces

QUESTION = "Which devices do we have?"
ORDER = "List all devices."
ANSWER = "Two routers: R1 and R2."
REPORT = "R1, R2"


def span(
    key: str, parent: str | None, start: int, end: int, attributes: dict[str, Json], name: str = ""
) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=name or key,
        start=start,
        end=end,
        attributes=attributes,
    )


def method(name: str, text: str, output: str) -> dict[str, Json]:
    me: Json = {"__class__": "SupervisorAgent", "attributes": {"topic": "devices"}}
    return {
        "ioa_observe.span.kind": "agent",
        "ioa_observe.entity.name": name,
        "ioa_observe.entity.input": json.dumps({"args": [me, text], "kwargs": {}}),
        "ioa_observe.entity.output": json.dumps(output),
    }


def chat(messages: list[Json], *parts: Json) -> dict[str, Json]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "unknown",
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [*parts]}]),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
    }


def text(role: str, content: str) -> dict[str, Json]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


CALL: Json = {
    "type": "tool_call",
    "id": "c1",
    "name": "ask_detector",
    "arguments": {"order": ORDER},
}
RESULT: Json = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": REPORT}],
}


def spans() -> list[Span]:
    said: list[Json] = [text("user", QUESTION)]
    delegated: list[Json] = [*said, {"role": "assistant", "parts": [CALL]}, RESULT]
    return [
        span("root", None, 0, 100, method("supervisor.run", QUESTION, ANSWER)),
        span("plan", "root", 1, 10, chat(said, CALL)),
        span("send", "root", 11, 50, method("supervisor.send", ORDER, REPORT)),
        span("detect", "send", 12, 40, method("detector.invoke", ORDER, REPORT)),
        span(
            "graph",
            "detect",
            13,
            39,
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "LangGraph"},
        ),
        span(
            "look",
            "graph",
            14,
            38,
            chat([text("user", ORDER)], {"type": "text", "content": REPORT}),
        ),
        span("answer", "root", 60, 90, chat(delegated, {"type": "text", "content": ANSWER})),
    ]


def test_agent_behind_another_one_is_not_a_turn():
    (trace,) = to_traces(spans())
    (turn,) = trace.turns
    assert (turn.user, turn.response) == (QUESTION, ANSWER)
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("ask_detector", {"order": ORDER})
    ]
    assert [(result.name, result.result) for result in turn.tool_results] == [
        ("ask_detector", REPORT)
    ]
    assert trace.mapper == "agntcy@1"


def test_agents_have_their_names_without_methods():
    (trace,) = to_traces(spans())
    assert trace.agents[:2] == ("supervisor", "detector")


def test_unknown_is_not_the_name_of_a_model():
    (trace,) = to_traces(spans())
    assert (trace.models, trace.usage.input_tokens) == ((), 30)
