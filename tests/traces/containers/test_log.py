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


def test_steps_that_call_no_tool_are_no_calls(tmp_path: Path):
    row: dict[str, Json] = {"query": "Hi", "answer": "Hello", "ts": 1772528400}
    steps: list[Json] = [
        {"name": "plan", "type": "llm_call", "input": {"prompt": "Plan."}},
        {"name": "find", "type": "tool_call", "input": {"sku": "B-7"}, "output": "two"},
        {"name": "parse", "status": "ok"},
        {"name": "look_up", "args": {"id": 7}},
        {"tool": "send"},
        "think",
    ]
    (trace,) = read(tmp_path, {**row, "steps": steps})
    calls = trace.turns[0].tool_calls or ()
    assert [call.name for call in calls] == ["find", "look_up", "send"]
    for others in (steps[:0], steps[:1], steps[-1:]):
        (trace,) = read(tmp_path, {**row, "steps": others})
        assert trace.turns[0].tool_calls is None


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


PAIRS = (("Is B-7 in stock?", "Yes."), ("How many?", "Two."), ("And B-8?", "None."))


def history(*pairs: tuple[str, str]) -> list[Json]:
    messages: list[Json] = []
    for user, answer in pairs:
        messages.append({"role": "user", "content": user})
        messages.append({"role": "assistant", "content": answer})
    return messages


@pytest.mark.parametrize("length", [1, 2, 9], ids=["last turn", "last two", "whole"])
@pytest.mark.parametrize("question", ["beside", "within"])
def test_history_that_each_request_repeats_counts_once(tmp_path: Path, length: int, question: str):
    rows: list[Json] = []
    for index, (user, answer) in enumerate(PAIRS):
        before = history(*PAIRS[max(0, index - length) : index])
        row: dict[str, Json] = {
            "conversation_id": "c",
            "answer": answer,
            "timestamp": 1772528400 + index,
            "model": "atlas-2",
            "usage": {"prompt_tokens": 10, "completion_tokens": 1},
        }
        if question == "beside":
            row |= {"question": user, "chat_history": before}
        else:
            row |= {"messages": [*before, {"role": "user", "content": user}]}
        rows.append(row)
    (trace,) = read(tmp_path, *rows)
    assert [(turn.user, turn.response) for turn in trace.turns] == [*PAIRS]
    assert [turn.tool_calls for turn in trace.turns] == [None] * 3
    assert (trace.usage.input_tokens, trace.models) == (30, ("atlas-2",))


def test_request_that_is_repeated_is_a_turn_each_time(tmp_path: Path):
    row: dict[str, Json] = {"conversation_id": "c", "query": "Hi", "answer": "Hello"}
    traces = read(tmp_path, *({**row, "ts": 1772528400 + index} for index in range(3)))
    assert users(traces) == ["Hi"] * 3


@pytest.mark.parametrize("key", ["event", "tool_name", "parent_id", "spanId"])
def test_step_of_a_run_is_no_request(key: str):
    row: dict[str, Json] = {"input": "B-7", "output": "two left", "timestamp": 1772528400}
    assert Log().claims(row)
    assert not Log().claims(row | {key: "find_stock"})


def test_object_without_a_text_is_no_question():
    row: dict[str, Json] = {"input": {"sku": "B-7"}, "output": "two left", "timestamp": 1772528400}
    assert not Log().claims(row)
    question: Json = {"question": "Is B-7 in stock?"}
    assert Log().claims(row | {"input": question})


def test_object_of_a_worker_is_a_step_and_its_text_a_request():
    row: dict[str, Json] = {"agent_name": "router", "request_id": "r-1", "output": {"to": "stock"}}
    question: Json = {"user_input": "Is B-7 in stock?"}
    assert not Log().claims(row | {"input": question})
    assert Log().claims(row | {"input": "Is B-7 in stock?", "output": "Yes, two left."})


ROWS: list[dict[str, Json]] = [
    {"conversation_id": "c", "query": "Is B-7 in stock?", "answer": "Yes."},
    {"conversation_id": "c", "query": "How many?", "answer": "Two."},
    {"conversation_id": "c", "query": "And B-8?", "answer": "None."},
    {"conversation_id": "c", "query": "When again?", "answer": "On Friday."},
]


def users(traces: list[Trace]) -> list[str | None]:
    return [turn.user for trace in traces for turn in trace.turns]


@pytest.mark.parametrize("time", [{}, {"date": "2026-03-03"}, {"timestamp": "2026-03-03"}])
def test_rows_of_a_conversation_without_different_times_keep_their_order(
    tmp_path: Path, time: dict[str, Json]
):
    asked: list[Json] = [row["query"] for row in ROWS]
    rows = [row | time for row in ROWS]
    assert users(read(tmp_path, *rows)) == asked
    assert users(read(tmp_path, *reversed(rows))) == asked[::-1]


def test_number_of_the_turn_decides_where_times_do_not(tmp_path: Path):
    rows = [row | {"turn_index": index} for index, row in enumerate(ROWS)]
    assert users(read(tmp_path, *reversed(rows))) == [row["query"] for row in ROWS]


def test_order_of_the_files_of_a_conversation_plays_no_part(tmp_path: Path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, rows in zip(paths, (ROWS[:2], ROWS[2:]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for order in (paths, paths[::-1]):
        traces = [entry.trace for entry in list_traces(order).traces]
        assert users(traces) == [row["query"] for row in ROWS]


def test_unknown_field_of_a_mapping_is_named():
    with pytest.raises(UsageError, match="expected FIELD=NAME in a mapping, got 'usr=query'"):
        map_logs({"usr": "query"})
    with pytest.raises(UsageError, match="names no user and no response"):
        map_logs({"calls": "steps"})


def test_golden_field_is_refused_where_only_logs_are_read(tmp_path: Path):
    with pytest.raises(UsageError, match="got 'input=frage'") as caught:
        read(tmp_path, {"frage": "Hi"}, mapping="input=frage")
    assert str(caught.value.hint).startswith("fields: user, response")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("Frage;Antwort;Dauer\r\nWann öffnen Sie?;Um 9 Uhr.;20\r\n".encode("cp1252"), "log.csv"),
        ("sep=;\nFrage;Antwort;Dauer\nWann öffnen Sie?;Um 9 Uhr.;20\n".encode(), "log.csv"),
        ("Frage\tAntwort\tDauer\nWann öffnen Sie?\tUm 9 Uhr.\t20\n".encode("utf-16"), "log.tsv"),
        ('"Frage","Antwort","Dauer"\n"Wann öffnen Sie?","Um 9 Uhr.",20\n'.encode(), "log.txt"),
    ],
)
def test_table_of_any_dialect_is_a_log(data: bytes, name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(data)
    mapping = "user=frage,response=Antwort,latency_ms=Dauer"
    (entry,) = list_traces(path, mapping=mapping).traces
    turn = entry.trace.turns[0]
    assert (turn.user, turn.response) == ("Wann öffnen Sie?", "Um 9 Uhr.")


def test_columns_of_a_table_are_known_in_any_case_style(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("User Query,Agent Response,Session ID,Created At\nHi,Hello,s1,2026-01-05\n")
    (entry,) = list_traces(path).traces
    turn = entry.trace.turns[0]
    assert (turn.user, turn.response, entry.trace.conversation) == ("Hi", "Hello", "s1")


def test_row_without_an_answer_is_a_trace_without_response(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("query,answer,model\nHi,Hello,m\nBye,,m\n")
    turns = [entry.trace.turns[0] for entry in list_traces(path).traces]
    assert sorted((turn.user, turn.response) for turn in turns if turn.user) == [
        ("Bye", None),
        ("Hi", "Hello"),
    ]


def test_row_with_too_many_cells_is_reported(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("query,answer,model\nHi,Hello,m\nPrice?,25,00 euros,m\n")
    (problem,) = list_traces(path).problems
    assert problem.where == f"{path} line 3"
    assert problem.message == "4 cells in a table of 3 columns"


PARQUET = Path(__file__).parents[2] / "samples" / "traces" / "log.parquet"


def test_parquet_table_is_a_log():
    listing = list_traces(PARQUET, mapping="user=Frage,response=Antwort,calls=steps[].tool,time=ts")
    first, second = (entry.trace.turns[0] for entry in listing.traces)
    assert (first.user, first.response) == ("Wann öffnen Sie?", "Um 9 Uhr.")
    assert [(call.name, call.args) for call in first.tool_calls or ()] == [
        ("opening_hours", {"day": "Mon"})
    ]
    assert (second.response, second.tool_calls) == (None, ())


@pytest.mark.parametrize("size", [200, -4, 60])
def test_damaged_parquet_is_an_error(size: int, tmp_path: Path):
    path = tmp_path / "log.parquet"
    data = PARQUET.read_bytes()
    path.write_bytes(data[:size] + (data[-60:] if size == 60 else b""))
    with pytest.raises(InputError, match=r"(truncated|damaged) Parquet file"):
        list_traces(path, mapping="user=Frage,response=Antwort")
