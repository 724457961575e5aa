from __future__ import annotations

from carob.schema import Json, Trace, Turn
from carob.traces.containers.detect import read_items


def read(*values: Json) -> list[Turn]:
    (trace,) = read_items(values, source="f")
    assert isinstance(trace, Trace)
    return [*trace.turns]


def message(kind: str, second: int, **fields: Json) -> Json:
    return {"message_type": kind, "date": f"2026-03-03T09:00:0{second}+00:00", **fields}


def test_messages_that_letta_writes_itself_are_not_the_users():
    (turn,) = read(
        message(
            "user_message", 1, content='{"type": "user_message", "message": "Hi", "time": "…"}'
        ),
        message("user_message", 2, content='{"type": "heartbeat", "reason": "…", "time": "…"}'),
        message("assistant_message", 3, content="Hello"),
    )
    assert (turn.user, turn.response) == ("Hi", "Hello")


def test_json_of_a_user_stays_what_it_is():
    (turn,) = read(
        message("user_message", 1, content='{"type": "order", "id": 7}'),
        message("assistant_message", 2, content="Noted."),
    )
    assert turn.user == '{"type": "order", "id": 7}'


def test_parallel_calls_and_approved_calls_count_once():
    def call(key: str) -> Json:
        return {"name": "look", "arguments": f'{{"q": "{key}"}}', "tool_call_id": key}

    returns: list[Json] = [
        {"tool_return": "one", "status": "success", "tool_call_id": "a"},
        {"tool_return": "no", "status": "error", "tool_call_id": "b"},
    ]
    calls: Json = [call("a"), call("b")]
    (turn,) = read(
        message("user_message", 1, content="Hi"),
        message("approval_request_message", 2, tool_call=call("a"), tool_calls=calls),
        message("tool_call_message", 3, tool_call=call("a"), tool_calls=calls),
        message("tool_return_message", 4, tool_return="one", tool_returns=returns),
    )
    assert [(item.id, item.args) for item in turn.tool_calls or ()] == [
        ("a", {"q": "a"}),
        ("b", {"q": "b"}),
    ]
    assert [(item.name, item.error) for item in turn.tool_results] == [
        ("look", None),
        ("look", "no"),
    ]


def agent(*messages: Json) -> Json:
    return {"agents": [{"name": "support", "llm_config": {}, "messages": [*messages]}]}


def test_agent_that_writes_its_answers_needs_no_tool_for_it():
    (turn,) = read(
        agent(
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
        )
    )
    assert (turn.user, turn.response, turn.agents) == ("Hi", "Hello", ("support",))


def test_what_an_older_agent_writes_beside_a_call_is_a_thought():
    sent: Json = {
        "id": "c",
        "function": {"name": "send_message", "arguments": '{"message": "Hello"}'},
    }
    (turn,) = read(
        agent(
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Greet them."}],
                "tool_calls": [sent],
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"status": "OK", "message": "Sent"}'},
        )
    )
    assert (turn.response, turn.messages, turn.tool_calls, turn.tool_results) == (
        "Hello",
        (),
        (),
        (),
    )
