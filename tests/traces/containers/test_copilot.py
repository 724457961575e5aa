"""Sessions of older versions of Copilot CLI, in which less is recorded than in the captured one."""

from __future__ import annotations

from itertools import count

from carob.schema import Json, Trace, Usage
from carob.traces.containers.detect import read_items

_seconds = count(10)


def event(kind: str, **data: Json) -> Json:
    second = next(_seconds)
    time = f"2026-03-03T09:00:{second}Z"
    return {"type": kind, "id": f"e{second}", "timestamp": time, "data": data}


def read(*events: Json) -> Trace:
    (trace,) = read_items(events, source="f")
    assert isinstance(trace, Trace)
    return trace


START = event("tool.execution_start", toolCallId="c1", toolName="view", arguments={"path": "a.py"})
DONE = event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "x = 1"})
QUESTION = event("user.message", content="What is x?")


def test_call_without_a_request_is_known_by_its_start():
    (turn,) = read(QUESTION, START, DONE, event("assistant.message", content="1")).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("view", {"path": "a.py"})
    ]
    assert [(result.name, result.result) for result in turn.tool_results] == [("view", "x = 1")]


def test_requested_call_is_not_counted_again_when_it_starts():
    request: Json = {"toolCallId": "c1", "name": "view", "arguments": {"path": "a.py"}}
    asking = event("assistant.message", content="", toolRequests=[request])
    (turn,) = read(QUESTION, asking, START, DONE, event("assistant.message", content="1")).turns
    assert len(turn.tool_calls or ()) == 1


def test_result_of_an_unknown_call_leaves_the_calls_unknown():
    (turn,) = read(QUESTION, DONE, event("assistant.message", content="1")).turns
    assert (turn.tool_calls, len(turn.tool_results)) == (None, 1)


def test_messages_have_the_model_where_nothing_else_counts_tokens():
    answer = event("assistant.message", content="1", model="atlas-2", outputTokens=9)
    trace = read(QUESTION, answer)
    assert (trace.models, trace.usage) == (("atlas-2",), Usage(output_tokens=9))


def test_tokens_are_counted_by_one_kind_of_event():
    answer = event("assistant.message", content="1", model="atlas-2", outputTokens=9)
    usage = event("assistant.usage", model="atlas-2", inputTokens=70, outputTokens=9)
    assert read(QUESTION, answer, usage).usage == Usage(input_tokens=70, output_tokens=9)
