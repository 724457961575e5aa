"""LangWatch's own spans around an agent that was written by hand."""

from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces

ASKED = '{"type": "json", "value": {"question": "Where is it?"}}'
ANSWERED = '{"type": "text", "value": "In the shed."}'
CALLED = '{"type": "json", "value": {"type": "tent", "value": 2}}'


def span(name: str, parent: str | None, start: int, kind: str, **more: Json) -> Span:
    return Span(
        trace_id="t1",
        span_id=name,
        parent_id=parent,
        name=name,
        scope="langwatch.telemetry.span",
        start=start,
        end=99 - start,
        attributes={"langwatch.span.type": kind, **more},
    )


def io(received: str, returned: str) -> dict[str, Json]:
    return {"langwatch.input": received, "langwatch.output": returned}


def test_inputs_and_outputs_are_read_without_their_types():
    metadata: Json = {"metadata": '{"thread_id": "s"}'}
    (trace,) = to_traces(
        [
            span("answer", None, 1, "span", **io(ASKED, ANSWERED), **metadata),
            span("shop", "answer", 2, "agent", **io(ASKED, ANSWERED)),
            span("find_item", "shop", 3, "tool", **io(CALLED, ANSWERED)),
        ]
    )
    (turn,) = trace.turns
    assert (trace.convention, trace.conversation) == ("langwatch", "s")
    assert (turn.user, turn.response, turn.agents) == ("Where is it?", "In the shed.", ("shop",))
    calls = [(call.name, call.args, call.agent) for call in turn.tool_calls or ()]
    assert calls == [("find_item", {"type": "tent", "value": 2}, "shop")]
    assert [result.result for result in turn.tool_results] == ["In the shed."]


def test_guardrails_and_evaluations_are_not_the_agents_work():
    (trace,) = to_traces(
        [
            span("shop", None, 1, "agent", **io(ASKED, ANSWERED)),
            span("policy", "shop", 2, "guardrail", **io(ASKED, '{"type": "json", "value": {}}')),
            span("lookup", "policy", 3, "tool", **io(CALLED, ANSWERED)),
        ]
    )
    assert not trace.turns[0].tool_calls


def test_a_model_call_is_read_from_its_chat_messages():
    messages = '{"type": "chat_messages", "value": [{"role": "user", "content": "Where is it?"}]}'
    reply = '{"type": "chat_messages", "value": [{"role": "assistant", "content": "Here."}]}'
    counts: dict[str, Json] = {"gen_ai.request.model": "m", "gen_ai.usage.prompt_tokens": 7}
    (trace,) = to_traces([span("chat", None, 1, "llm", **io(messages, reply), **counts)])
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Where is it?", "Here.")
    (call,) = turn.model_calls
    assert (call.model, call.usage.input_tokens) == ("m", 7)
