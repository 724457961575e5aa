from __future__ import annotations

from carob.schema import Json, ToolCall, ToolResult
from carob.traces.messages.adk import (
    calls_of,
    event_turns,
    results_of,
    state_of,
    text_of,
)

CONTENT: Json = {
    "role": "model",
    "parts": [
        {"text": "Hm.", "thought": True},
        {"text": "One"},
        {"functionCall": {"name": "find", "args": {"orderId": 7}}},
        {"text": "Two"},
        {"function_response": {"id": "f1", "name": "find", "response": {"camelKey": 1}}},
        {},
    ],
}


def test_text_excludes_thoughts():
    assert text_of(CONTENT) == "One\nTwo"


def test_no_text_is_not_empty_text():
    assert text_of(None) is None
    assert text_of({"parts": [{"function_call": {"name": "x"}}]}) is None
    assert text_of({"parts": [{"text": ""}]}) == ""


def test_keys_within_arguments_and_responses_are_unchanged():
    assert calls_of(CONTENT, agent="a") == [ToolCall(name="find", args={"orderId": 7}, agent="a")]
    assert results_of(CONTENT) == [ToolResult(name="find", id="f1", result={"camelKey": 1})]


def event(author: str, texts: str, invocation: str, **fields: Json) -> dict[str, Json]:
    content: Json = {"parts": [{"text": texts}]}
    return {"author": author, "content": content, "invocation_id": invocation, **fields}


def test_returning_agent_is_listed_again():
    events: Json = [
        event("user", "Hi", "1"),
        event("root", "Over to you.", "1"),
        event("billing", "Back to you.", "1"),
        event("root", "Done.", "1"),
    ]
    (turn,) = event_turns(events)
    assert turn.agents == ("root", "billing", "root")
    assert (turn.response, len(turn.messages)) == ("Done.", 2)


def test_each_invocation_is_a_turn():
    events: Json = [event("user", "A", "1"), event("root", "a", "1"), event("user", "B", "2")]
    assert [(turn.id, turn.user, turn.response) for turn in event_turns(events)] == [
        ("1", "A", "a"),
        ("2", "B", None),
    ]


def test_error_belongs_to_its_turn():
    failed = event("root", "", "1", error_code="SAFETY", error_message="blocked")
    (turn,) = event_turns([event("user", "A", "1"), failed])
    assert (turn.error, turn.response) == ("blocked", None)


def test_grounding_is_preserved():
    chunk: Json = {"web": {"uri": "https://example.org"}}
    grounded = event("root", "a", "1", grounding_metadata={"grounding_chunks": [chunk]})
    (turn,) = event_turns([event("user", "A", "1"), grounded])
    assert turn.grounding == (chunk,)


def test_later_state_deltas_override_earlier_ones():
    def delta(**state: Json) -> Json:
        return {"author": "root", "actions": {"stateDelta": state}}

    assert state_of([delta(a=1, b=1), delta(a=2)]) == {"a": 2, "b": 1}
