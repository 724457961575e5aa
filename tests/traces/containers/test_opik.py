from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.schema import Json, Trace
from carob.schema.problem import ignore
from carob.traces.read import read_traces


def at(second: int) -> str:
    return f"2026-01-01T00:00:0{second}Z"


TRACE: dict[str, Json] = {
    "id": "t1",
    "name": "shop",
    "project_id": "p",
    "thread_id": "th",
    "start_time": at(0),
    "end_time": at(5),
    "input": {"question": "Where is order 7?"},
    "output": {"answer": "It was shipped."},
}


def span(number: int, kind: str, name: str, **fields: Json) -> dict[str, Json]:
    return {
        "id": f"s{number}",
        "trace_id": "t1",
        "parent_span_id": None,
        "project_id": "p",
        "type": kind,
        "name": name,
        "start_time": at(number),
        "end_time": at(number),
        **fields,
    }


SPANS: list[Json] = [
    span(
        1,
        "llm",
        "chat",
        input={"messages": [{"role": "user", "content": "Where is order 7?"}]},
        output={"choices": [{"message": {"role": "assistant", "content": "I look."}}]},
        usage={"prompt_tokens": 5, "completion_tokens": 2},
        model="m",
        provider="openai",
    ),
    span(2, "tool", "find", input={"id": 7}, output={"output": "shipped"}),
]


def read(tmp_path: Path, value: Json) -> Trace:
    path = tmp_path / "f.json"
    path.write_text(json.dumps(value))
    (trace,) = read_traces([path], report=ignore)
    return trace


@pytest.mark.parametrize(
    "value", [{"trace": TRACE, "spans": SPANS}, TRACE | {"spans": SPANS}, [TRACE, *SPANS]]
)
def test_trace_and_spans_are_one_turn(tmp_path: Path, value: Json):
    trace = read(tmp_path, value)
    (turn,) = trace.turns
    assert (trace.convention, trace.conversation) == ("opik", "th")
    assert (turn.user, turn.response) == ("Where is order 7?", "It was shipped.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (5, 2)
    assert [call.provider for call in trace.model_calls] == ["openai"]


def test_error_of_a_tool_is_read(tmp_path: Path):
    error: Json = {"exception_type": "KeyError", "message": "no order 7"}
    failed = span(2, "tool", "find", input={"id": 7}, error_info=error)
    (turn,) = read(tmp_path, {"trace": TRACE, "spans": [failed]}).turns
    assert [result.error for result in turn.tool_results] == ["no order 7"]
