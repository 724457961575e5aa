from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def text(words: str) -> Json:
    return [{"kind": "text", "text": words}]


def task(state: str = "completed", **fields: Json) -> dict[str, Json]:
    history: Json = [{"kind": "message", "role": "user", "messageId": "m", "parts": text("Hi")}]
    status: Json = {"state": state, "timestamp": "2026-01-01T00:00:05Z"}
    return {
        "id": "1",
        "contextId": "c",
        "kind": "task",
        "status": status,
        "history": history,
    } | fields


def read(value: Json) -> Trace:
    (trace,) = read_items([value], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_artifacts_are_the_response_and_tools_are_unknown():
    trace = read(task(artifacts=[{"artifactId": "a", "parts": text("Hello")}]))
    (turn,) = trace.turns
    assert (trace.convention, trace.conversation) == ("a2a", "c")
    assert (turn.user, turn.response, turn.tool_calls) == ("Hi", "Hello", None)


def test_message_of_the_status_is_the_response_without_artifacts():
    message: Json = {"role": "agent", "parts": text("Which city?")}
    trace = read(
        {"jsonrpc": "2.0", "id": 1, "result": task(status={"state": "x", "message": message})}
    )
    assert trace.turns[0].response == "Which city?"


def test_failed_task_has_an_error():
    assert read(task("failed")).turns[0].error == "the task was failed"
