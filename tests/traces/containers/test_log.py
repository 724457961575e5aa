"""Logs of an agent's own making: known names, mapped names, and what is not recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.api.traces import list_traces
from carob.errors import InputError, UsageError
from carob.schema import Json, Trace
from carob.traces.containers.log import Log, map_logs


def read(tmp_path: Path, *rows: Json, mapping: str | None = None) -> list[Trace]:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [entry.trace for entry in list_traces(path, mapping=mapping).traces]


def test_common_names_are_known(tmp_path: Path):
    step: Json = {"tool": "lookup_order", "args": {"id": 7}, "result": {"status": "shipped"}}
    (trace,) = read(
        tmp_path,
        {
            "session_id": "s",
            "query": "Where is it?",
            "answer": "On its way.",
            "steps": [step],
            "latency_ms": 1500,
            "timestamp": "2026-03-03T09:00:00Z",
            "model": "atlas-2",
            "usage": {"prompt_tokens": 9, "completion_tokens": 3},
        },
    )
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Where is it?", "On its way.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("lookup_order", {"id": 7})
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [
        ("lookup_order", {"status": "shipped"})
    ]
    assert (trace.usage.input_tokens, trace.models, trace.duration_ms) == (9, ("atlas-2",), 1500)
    assert trace.conversation == "s"


def test_row_that_names_no_tools_does_not_say_that_none_were_called(tmp_path: Path):
    (trace,) = read(tmp_path, {"query": "Hi", "answer": "Hello", "ts": 1772528400})
    assert trace.turns[0].tool_calls is None
    (trace,) = read(tmp_path, {"query": "Hi", "answer": "Hello", "tools_used": []})
    assert trace.turns[0].tool_calls == ()


def test_latency_without_a_unit_is_not_guessed(tmp_path: Path):
    (trace,) = read(tmp_path, {"query": "Hi", "answer": "Hello", "latency": 3, "ts": 1772528400})
    assert trace.duration_ms is None


def test_mapped_names_are_paths(tmp_path: Path):
    row: Json = {
        "anfrage": {"frage": "Wo ist es?"},
        "antwort": "Unterwegs.",
        "schritte": [{"werkzeug": "lookup_order", "args": {"id": 7}}, {"gedanke": "fertig"}],
    }
    mapping = "user=anfrage.frage, response=antwort, calls=schritte[].werkzeug"
    (trace,) = read(tmp_path, row, mapping=mapping)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Wo ist es?", "Unterwegs.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("lookup_order", {"id": 7})
    ]


def test_table_is_a_log_of_rows(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text(
        'query,answer,latency_ms,tokens_in,tools_used\n"Hi, you",Hello,20,7,"[""look""]"\n'
    )
    (entry,) = list_traces(path).traces
    (turn,) = entry.trace.turns
    assert (turn.user, turn.response, entry.trace.usage.input_tokens) == ("Hi, you", "Hello", 7)
    assert [call.name for call in turn.tool_calls or ()] == ["look"]
    (entry,) = list_traces(path, mapping="user=answer,response=query").traces
    assert entry.trace.turns[0].user == "Hello"


def test_mapping_ends_with_the_call(tmp_path: Path):
    row: Json = {"frage": "Hi", "antwort": "Hello"}
    assert len(read(tmp_path, row, mapping="user=frage,response=antwort")) == 1
    with pytest.raises(InputError, match="no trace container matches"):
        read(tmp_path, row)


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Hi", "answer": "Hello"},
        {"question": "Hi", "answer": "Hello", "expected_answer": "Hello", "model": "m"},
        {"question": "Hi", "model": "m"},
    ],
)
def test_golden_rows_are_no_log(row: Json):
    assert not Log().claims(row)


@pytest.mark.parametrize("key", ["event", "tool_name", "parent_id", "spanId"])
def test_step_of_a_run_is_no_request(key: str):
    row: dict[str, Json] = {"input": {"sku": "B-7"}, "output": "two left", "timestamp": 1772528400}
    assert Log().claims(row)
    assert not Log().claims(row | {key: "find_stock"})


def test_unknown_field_of_a_mapping_is_named():
    with pytest.raises(UsageError, match="expected FIELD=NAME in a mapping, got 'usr=query'"):
        map_logs("usr=query")
    with pytest.raises(UsageError, match="names no user and no response"):
        map_logs("calls=steps")
