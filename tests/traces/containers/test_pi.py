from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def entry(key: str, parent: str | None, role: str, text: str, **more: Json) -> Json:
    message: Json = {"role": role, "content": [{"type": "text", "text": text}], **more}
    time = "2026-03-03T09:00:00Z"
    return {"type": "message", "id": key, "parentId": parent, "timestamp": time, "message": message}


def read(*lines: Json) -> Trace:
    head: Json = {"type": "session", "version": 3, "id": "s", "timestamp": "", "cwd": "/shop"}
    (trace,) = read_items([head, *lines], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_branch_that_was_left_is_not_part_of_the_session():
    trace = read(
        entry("1", None, "user", "Hi"),
        entry("2", "1", "assistant", "Hello."),
        entry("3", "2", "user", "First try"),
        entry("4", "3", "assistant", "No."),
        entry("5", "2", "user", "Second try"),
        entry("6", "5", "assistant", "Yes."),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Hi", "Hello."),
        ("Second try", "Yes."),
    ]


def test_parents_in_a_circle_end():
    trace = read(entry("1", "2", "user", "Hi"), entry("2", "1", "assistant", "Hello."))
    assert len(trace.turns) == 1


def test_commands_of_the_user_and_summaries_are_not_messages():
    trace = read(
        entry("1", None, "user", "Hi"),
        entry("2", "1", "bashExecution", "ls"),
        entry("3", "2", "assistant", "Hello."),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello.")]


def test_failed_model_call_is_an_error():
    failed = entry("2", "1", "assistant", "", stopReason="error", errorMessage="overloaded")
    assert read(entry("1", None, "user", "Hi"), failed).turns[0].error == "overloaded"


def test_counts_beside_the_message_are_read():
    usage: Json = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2}
    answer = entry("2", "1", "assistant", "Hello.", model="m")
    assert isinstance(answer, dict)
    trace = read(entry("1", None, "user", "Hi"), {**answer, "usage": usage})
    assert (trace.usage.input_tokens, trace.usage.output_tokens, trace.models) == (8, 2, ("m",))
