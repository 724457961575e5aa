from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items
from carob.traces.containers.goose import Goose


def read(*values: Json) -> list[Trace]:
    return [record for record in read_items(values, source="f") if isinstance(record, Trace)]


def message(role: str, *blocks: Json, **metadata: Json) -> dict[str, Json]:
    return {"role": role, "created": 1795030572, "content": [*blocks], "metadata": metadata}


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def call(name: str, key: str = "c1") -> Json:
    value: Json = {"name": name, "arguments": {"path": "a.py"}}
    return {"type": "toolRequest", "id": key, "toolCall": {"status": "success", "value": value}}


def test_older_session_file_has_a_head_and_messages():
    head: Json = {"working_dir": "/shop", "description": "CI", "message_count": 2}
    (trace,) = read(head, message("user", text("Hi")), message("assistant", text("Hello")))
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello")]
    assert trace.mapper == "goose@1"


def test_text_that_the_user_does_not_see_is_not_a_question():
    context = message("user", text("<turn-context>…</turn-context>"), userVisible=False)
    session: Json = {
        "id": "20261118_1",
        "conversation": [
            message("user", text("Hi")),
            context,
            message("assistant", text("Hello")),
        ],
    }
    (trace,) = read(session)
    assert trace.id == "20261118_1"
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello")]


def test_call_that_goose_could_not_parse_leaves_the_calls_unknown():
    broken: Json = {
        "type": "toolRequest",
        "id": "c1",
        "toolCall": {"status": "error", "error": "invalid arguments"},
    }
    (trace,) = read([message("user", text("Hi")), message("assistant", text("Hm"), broken)])
    assert trace.turns[0].tool_calls is None


def test_call_without_arguments_has_none():
    block: Json = {"type": "toolRequest", "id": "c1", "toolCall": {"value": {"name": "list"}}}
    (trace,) = read([message("user", text("Hi")), message("assistant", block)])
    assert [(item.name, item.args) for item in trace.turns[0].tool_calls or ()] == [("list", {})]


def test_token_counts_of_some_answers_only_are_not_the_tokens_of_the_run():
    usage: Json = {"inputTokens": 107, "outputTokens": 13, "totalTokens": 120}
    printed: Json = {
        "messages": [
            message("user", text("Hi")),
            message("assistant", text("Hello"), usage=usage),
            message("user", text("And?")),
            message("assistant", text("Fine.")),
        ]
    }
    (trace,) = read(printed)
    assert trace.usage.input_tokens is None


def test_run_that_failed_says_so():
    (trace,) = read(
        {"type": "message", "message": message("assistant", call("read")) | {"id": "m1"}},
        {"type": "error", "error": "rate limited"},
    )
    assert trace.turns[0].error == "rate limited"


def test_other_chats_are_not_claimed():
    assert not Goose().claims([{"role": "user", "content": [text("Hi")]}])
    assert not Goose().claims({"messages": [{"role": "user", "created": "now", "content": []}]})
