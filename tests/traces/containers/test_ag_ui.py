from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

RUN: list[Json] = [
    {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
    {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "find"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"id"'},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": ": 7}"},
    {"type": "TOOL_CALL_END", "toolCallId": "c1"},
    {"type": "TOOL_CALL_RESULT", "messageId": "m1", "toolCallId": "c1", "content": "shipped"},
    {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "assistant"},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "It was "},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "shipped."},
    {"type": "TEXT_MESSAGE_END", "messageId": "m2"},
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"},
]


def read(*values: Json) -> list[Trace]:
    return [record for record in read_items(values, source="f") if isinstance(record, Trace)]


def test_streamed_pieces_become_messages_and_calls():
    (trace,) = read(RUN)
    (turn,) = trace.turns
    assert (trace.conversation, turn.id, turn.user) == ("t", "r1", None)
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("find", {"id": 7}, "c1")
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [("find", "shipped")]
    assert turn.response == "It was shipped."


def test_one_event_per_line_is_the_same_run():
    assert read(*RUN) == read(RUN)


def test_input_of_the_run_has_the_users_words():
    asked: Json = {"messages": [{"role": "user", "id": "u", "content": "Where is order 7?"}]}
    started: Json = {"type": "RUN_STARTED", "threadId": "t", "runId": "r1", "input": asked}
    (trace,) = read([started, *RUN[1:]])
    assert [turn.user for turn in trace.turns] == ["Where is order 7?"]


def test_snapshot_repeats_the_conversation():
    messages: Json = [
        {"role": "user", "id": "u", "content": "Where is order 7?"},
        {"role": "assistant", "id": "a", "content": "It was shipped."},
    ]
    (trace,) = read([*RUN, {"type": "MESSAGES_SNAPSHOT", "messages": messages}])
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Where is order 7?", "It was shipped.")
    ]


def test_failed_run_has_its_error():
    (trace,) = read([RUN[0], {"type": "RUN_ERROR", "message": "too many requests"}])
    assert [turn.error for turn in trace.turns] == ["too many requests"]
