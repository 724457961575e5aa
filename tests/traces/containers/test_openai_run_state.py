from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items
from carob.traces.containers.openai_run_state import OWN_RUN_ONLY

CALL: Json = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"q": 1}'}
ANSWER: Json = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "2"}],
}


def read(asked: Json) -> Trace:
    state: Json = {
        "$schemaVersion": "1.4",
        "currentAgent": {"name": "helper"},
        "originalInput": asked,
        "modelResponses": [{"usage": {"input_tokens": 5, "output_tokens": 2}, "output": []}],
        "generatedItems": [
            {"type": "tool_call_item", "rawItem": CALL, "agent": {"name": "helper"}},
            {"type": "tool_approval_item", "rawItem": CALL, "agent": {"name": "helper"}},
            {"type": "message_output_item", "rawItem": ANSWER, "agent": {"name": "helper"}},
        ],
    }
    (trace,) = read_items([state], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_state_of_javascript_is_read_like_that_of_python():
    trace = read("How many?")
    (turn,) = trace.turns
    assert (turn.user, turn.response, turn.agents) == ("How many?", "2", ("helper",))
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("look", {"q": 1})]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (5, 2)


def test_tokens_of_earlier_runs_are_unknown():
    earlier: Json = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "How many?"},
    ]
    trace = read(earlier)
    assert [turn.response for turn in trace.turns] == ["Hello.", "2"]
    assert trace.gaps == {"usage": OWN_RUN_ONLY}
