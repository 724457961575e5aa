from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

RESPONSE: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_760_000_000,
    "status": "completed",
    "model": "m",
    "output": [
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id": 7}'},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Found."}],
        },
    ],
    "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7},
}


def test_response_of_the_api_is_one_turn_without_the_users_words():
    (trace,) = read_items([RESPONSE], source="f")
    assert isinstance(trace, Trace)
    (turn,) = trace.turns
    assert (trace.id, turn.user, turn.response) == ("resp_1", None, "Found.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (5, 2)
