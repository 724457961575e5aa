from __future__ import annotations

import gzip
import json
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carob.errors import CarobError, FormatError, InputError, UsageError
from carob.schema import Problem, Trace
from carob.traces import read
from carob.traces.read import open_traces, read_traces
from carob.traces.reading import collect

START = 1_780_000_000 * 10**9
Spans = list[dict[str, Any]]


def spans(
    number: int, *, session: str | None = None, start: int = 0, tool: str = "find_order"
) -> Spans:
    """An agent that calls its model and a tool, and responds."""
    trace_id = f"{number + 1:032x}"
    began = START + start * 10**9

    def span(key: int, name: str, **attributes: object) -> dict[str, Any]:
        all_attributes = dict(attributes)
        if session:
            all_attributes["gen_ai.conversation.id"] = session
        return {
            "traceId": trace_id,
            "spanId": f"{(number + 1) * 16 + key:016x}",
            **({"parentSpanId": f"{(number + 1) * 16 + 1:016x}"} if key > 1 else {}),
            "name": name,
            "startTimeUnixNano": began + key * 1000,
            "endTimeUnixNano": began + key * 1000 + (10**6 if key == 1 else 500),
            "attributes": {
                name.replace("__", "."): value for name, value in all_attributes.items()
            },
        }

    question = [{"role": "user", "parts": [{"type": "text", "content": f"Question {number}?"}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": f"Answer {number}."}]}]
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": json.dumps(question),
        "gen_ai.output.messages": json.dumps(answer),
        "gen_ai.usage.input_tokens": 10 + number,
        "gen_ai.usage.output_tokens": 5,
    }
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    call = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": f"call-{number}",
        "gen_ai.tool.call.arguments": json.dumps({"id": number}),
        "gen_ai.tool.call.result": "shipped",
    }
    return [
        span(1, "invoke_agent shop", **agent),
        span(2, f"execute_tool {tool}", **call),
        span(3, "chat gpt-4o", **model),
    ]


def otlp(*records: dict[str, Any]) -> str:
    """One export request."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(map(_pairs, records))}]}]})


def _pairs(span: dict[str, Any]) -> dict[str, Any]:
    pairs = [
        {"key": key, "value": {"intValue" if isinstance(value, int) else "stringValue": value}}
        for key, value in span["attributes"].items()
    ]
    return {**span, "attributes": pairs}


def snake(*records: dict[str, Any]) -> str:
    """The same request in snake case."""
    text = otlp(*records)
    for key in ("resourceSpans", "scopeSpans", "traceId", "spanId", "parentSpanId"):
        text = text.replace(key, "".join(f"_{c.lower()}" if c.isupper() else c for c in key))
    text = text.replace("startTimeUnixNano", "start_time_unix_nano")
    text = text.replace("endTimeUnixNano", "end_time_unix_nano")
    return text.replace("stringValue", "string_value").replace("intValue", "int_value")


def flat(*records: dict[str, Any]) -> str:
    """Only the spans, one per line."""
    return "\n".join(map(json.dumps, records))


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def traces(*paths: Path, problems: list[Problem] | None = None) -> list[Trace]:
    report = (problems if problems is not None else []).append
    read = list(read_traces(paths, report=report))
    return [msgspec.structs.replace(trace, source=None) for trace in read]


@pytest.fixture
def in_little_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collect, "MAX_HELD", 0)
    monkeypatch.setattr(read, "MAX_IN_MEMORY", 0)


def test_trace_has_turns_calls_and_usage(tmp_path: Path):
    (trace,) = traces(write_lines(tmp_path / "t.jsonl", otlp(*spans(0))))
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Question 0?", "Answer 0.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find_order", {"id": 0})]
    assert trace.usage.input_tokens == 10


def test_traces_are_in_order_of_time_for_any_order_of_lines(tmp_path: Path):
    lines = [otlp(*spans(0, start=9)), otlp(*spans(1, start=3)), otlp(*spans(2, start=6))]
    result = traces(write_lines(tmp_path / "t.jsonl", *lines))
    assert [trace.turns[0].user for trace in result] == [
        "Question 1?",
        "Question 2?",
        "Question 0?",
    ]


def test_traces_of_one_conversation_are_one_session(tmp_path: Path):
    lines = [otlp(*spans(n, session="s-1", start=10 - n)) for n in range(3)]
    (session,) = traces(write_lines(tmp_path / "t.jsonl", *lines))
    assert session.id == "s-1"
    assert [turn.user for turn in session.turns] == ["Question 2?", "Question 1?", "Question 0?"]
    assert session.attributes["trace_ids"] == [f"{n + 1:032x}" for n in (2, 1, 0)]


def test_several_files_are_one_input(tmp_path: Path):
    root, tool, model = spans(0)
    first = write_lines(tmp_path / "one.jsonl", otlp(model), otlp(tool))
    second = write_lines(tmp_path / "two.jsonl", otlp(root))
    assert traces(first, second) == traces(
        write_lines(tmp_path / "all.jsonl", otlp(root, tool, model))
    )


def test_compressed_file_is_merged_with_a_plain_one(tmp_path: Path, in_little_memory: None):
    root, tool, model = spans(0)
    plain = write_lines(tmp_path / "one.jsonl", otlp(root), *(otlp(*spans(n)) for n in range(1, 5)))
    packed = tmp_path / "two.jsonl.gz"
    packed.write_bytes(gzip.compress(f"{otlp(tool)}\n{otlp(model)}\n".encode()))
    file = write_lines(tmp_path / "all.jsonl", *(otlp(*spans(n)) for n in range(5)))
    assert traces(plain, packed) == traces(file)


def test_trace_split_over_lines_is_reassembled(tmp_path: Path, in_little_memory: None):
    early = [otlp(spans(n)[0]) for n in range(5)]
    late = [otlp(*spans(n)[1:]) for n in range(5)]
    file = write_lines(tmp_path / "all.jsonl", *(otlp(*spans(n)) for n in range(5)))
    assert traces(write_lines(tmp_path / "t.jsonl", *early, *late)) == traces(file)


def test_logs_without_a_span_are_reported(tmp_path: Path):
    log = {"traceId": "f" * 32, "spanId": "f" * 16, "body": {"stringValue": "hm"}}
    logs = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [log, log]}]}]})
    problems: list[Problem] = []
    traces(write_lines(tmp_path / "t.jsonl", otlp(*spans(0)), logs), problems=problems)
    assert [problem.message for problem in problems] == [
        "2 log records belong to no span that was read"
    ]


def test_truncated_last_line_is_a_warning(tmp_path: Path):
    problems: list[Problem] = []
    path = write_lines(tmp_path / "t.jsonl", otlp(*spans(0)), otlp(*spans(1))[:300])
    assert len(traces(path, problems=problems)) == 1
    assert [(p.severity, p.where) for p in problems] == [("warning", f"{path} line 2")]


def test_spans_without_an_agent_are_an_error_that_lists_span_names(tmp_path: Path):
    http = {**spans(0)[0], "name": "GET /health", "attributes": {"http.method": "GET"}}
    with pytest.raises(FormatError, match=r"in 1 trace; span names: 'GET /health'"):
        traces(write_lines(tmp_path / "t.jsonl", otlp(http)))


def test_spans_without_an_agent_beside_others_are_a_note(tmp_path: Path):
    http = {**spans(1)[0], "name": "GET /health", "attributes": {"http.method": "GET"}}
    problems: list[Problem] = []
    path = write_lines(tmp_path / "t.jsonl", otlp(*spans(0)), otlp(http))
    assert len(traces(path, problems=problems)) == 1
    assert [problem.severity for problem in problems] == ["note"]


def test_empty_export_is_an_error(tmp_path: Path):
    with pytest.raises(FormatError, match="no spans"):
        traces(write_lines(tmp_path / "t.json", '{"resourceSpans": []}'))


def test_empty_input_and_missing_file_are_errors(tmp_path: Path):
    with pytest.raises(UsageError, match="no file to read"):
        traces()
    with pytest.raises(InputError, match="no such file"):
        traces(tmp_path / "missing.jsonl")


def test_duplicate_trace_counts_once_and_a_different_trace_with_its_id_is_numbered(tmp_path: Path):
    def chat(answer: str) -> str:
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
        return json.dumps({"task_id": "t-1", "messages": messages})

    result = traces(write_lines(tmp_path / "t.jsonl", chat("Hello"), chat("Hello"), chat("Bye")))
    assert sorted(trace.id for trace in result) == ["t-1", "t-1#2"]
    assert {trace.turns[0].response for trace in result} == {"Hello", "Bye"}


def test_temporary_files_are_removed(tmp_path: Path, in_little_memory: None):
    path = write_lines(tmp_path / "t.jsonl", *(otlp(*spans(n)) for n in range(4)))
    with open_traces([path], report=lambda _: None) as trace_set:
        folder = trace_set.folder.path
        assert [file.stat().st_size > 0 for file in folder.iterdir()] == [True]
        assert len(list(trace_set)) == len(trace_set) == 4
    assert not folder.exists()


def test_several_processes_give_the_same_traces_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lines = [otlp(*spans(n, session=f"s-{n % 7}", start=n * 7 % 40)[:2]) for n in range(40)]
    lines += [otlp(spans(n, session=f"s-{n % 7}", start=n * 7 % 40)[2]) for n in range(40)]
    path = write_lines(tmp_path / "t.jsonl", *lines)
    alone = list(read_traces([path], report=lambda _: None))
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    with open_traces([path], report=lambda _: None, jobs=2) as trace_set:
        shared = [trace for shard in trace_set.shards(3) for trace in shard.traces()]
    assert shared == alone


def test_several_processes_report_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lines = [otlp(*spans(n)) for n in range(40)]
    lines[7] = lines[33] = "not JSON"
    path = write_lines(tmp_path / "t.jsonl", *lines)
    alone: list[Problem] = []
    assert len(list(read_traces([path], report=alone.append))) == 38
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    shared: list[Problem] = []
    with open_traces([path], report=shared.append, jobs=2) as trace_set:
        assert len(trace_set) == 38
    assert shared == alone
    assert [problem.where for problem in shared] == [f"{path} line 8", f"{path} line 34"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_reported_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int):
    path = write_lines(tmp_path / "t.jsonl", *[otlp(*spans(n)) for n in range(20)])
    size = path.stat().st_size
    monkeypatch.setattr(collect, "PROGRESS_STEP", size // 10)
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    monkeypatch.setattr(read, "PART_SIZE", size // 3)
    calls: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total))

    with open_traces([path], report=lambda _: None, jobs=jobs, progress=progress) as trace_set:
        assert len(trace_set) == 20
    assert len(calls) >= 3
    assert calls == sorted(calls)
    assert {total for _, total in calls} == {size}


def test_many_unfinished_traces_are_all_read(tmp_path: Path, in_little_memory: None):
    lines = [otlp(spans(n)[1]) for n in range(300)]
    assert len(traces(write_lines(tmp_path / "t.jsonl", *lines))) == 300


def test_many_unfinished_traces_are_read_in_linear_time(tmp_path: Path):
    def read_seconds(count: int) -> float:
        path = write_lines(tmp_path / "t.jsonl", *[otlp(spans(n)[1]) for n in range(count)])
        started = time.process_time()
        assert len(traces(path)) == count
        return time.process_time() - started

    assert read_seconds(16_000) < 10 * read_seconds(4_000)  # 16 times if it were quadratic


def test_file_that_a_worker_cannot_read_is_read_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    metrics = '{"resourceMetrics": []}'
    path = write_lines(tmp_path / "t.jsonl", *[metrics] * 200, otlp(*spans(0)))
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    with open_traces([path], report=lambda _: None, jobs=2) as trace_set:
        assert len(trace_set) == 1


def test_ten_thousand_levels_are_an_error_with_the_line(tmp_path: Path):
    deep = '{"resourceSpans": ' + "[" * 10_000 + "]" * 10_000 + "}"
    path = write_lines(tmp_path / "t.jsonl", otlp(*spans(0)), deep)
    with pytest.raises(FormatError, match="nested too deeply") as caught:
        traces(path)
    assert caught.value.where == f"{path} line 2"


def test_ten_thousand_nested_agents_are_one_trace(tmp_path: Path):
    agent = spans(0)[0]
    chain = [
        {**agent, "spanId": f"{n + 1:016x}", **({"parentSpanId": f"{n:016x}"} if n else {})}
        for n in range(10_000)
    ]
    (trace,) = traces(write_lines(tmp_path / "t.jsonl", otlp(*chain)))
    assert trace.agents == ("shop",)


@st.composite
def inputs(draw: st.DrawFn) -> list[Spans]:
    count = draw(st.integers(1, 4))
    return [
        spans(
            number,
            session=draw(st.sampled_from([None, "s-1", "s-2"])),
            start=draw(st.integers(0, 5)),
        )
        for number in range(count)
    ]


lenient = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@lenient
@given(inputs(), st.randoms(use_true_random=False), st.booleans())
def test_order_duplicates_and_files_do_not_change_the_traces(
    tmp_path: Path, groups: list[Spans], dice: random.Random, little: bool
):
    expected = traces(write_lines(tmp_path / "all.jsonl", *(otlp(*group) for group in groups)))
    lines = [otlp(span) for group in groups for span in group]
    lines += dice.sample(lines, k=dice.randrange(len(lines)))
    dice.shuffle(lines)
    cut = dice.randrange(1, len(lines))
    first = write_lines(tmp_path / "one.jsonl", *lines[:cut])
    second = write_lines(tmp_path / "two.jsonl", *lines[cut:])
    with pytest.MonkeyPatch.context() as patch:
        if little:
            patch.setattr(collect, "MAX_HELD", 0)
            patch.setattr(read, "MAX_IN_MEMORY", 0)
        assert traces(first, second) == expected


@lenient
@given(inputs())
def test_every_container_gives_the_same_traces(tmp_path: Path, groups: list[Spans]):
    every = [span for group in groups for span in group]
    expected = traces(write_lines(tmp_path / "otlp.json", otlp(*every)))
    assert traces(write_lines(tmp_path / "snake.json", snake(*every))) == expected
    assert traces(write_lines(tmp_path / "flat.jsonl", flat(*every))) == expected
    assert traces(write_lines(tmp_path / "list.json", json.dumps(every, indent=2))) == expected


@lenient
@given(st.binary(max_size=400), st.integers(0, 2000))
def test_damaged_bytes_are_read_or_refused(tmp_path: Path, noise: bytes, at: int):
    data = otlp(*spans(0)).encode()
    path = tmp_path / "t.jsonl"
    path.write_bytes(data[:at] + noise + data[at:] + b"\n" + data)
    with suppress(CarobError):
        traces(path)


def test_file_with_only_log_records_has_a_clear_error(tmp_path: Path):
    record = {"traceId": "a" * 32, "timeUnixNano": "5", "body": {"stringValue": "x"}}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (tmp_path / "logs.json").write_text(json.dumps(logs))
    with pytest.raises(FormatError, match="1 log records, but none of their spans"):
        list(read_traces([tmp_path / "logs.json"], report=lambda problem: None))


def test_folder_is_an_error_with_a_hint(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        traces(tmp_path)
    assert caught.value.hint == f"name the files in it: {tmp_path}/*"


def test_spans_without_a_trace_id_are_left_out_and_reported(tmp_path: Path):
    lost = [record | {"traceId": "0" * 32} for record in spans(0)]
    path = write_lines(tmp_path / "t.jsonl", otlp(*lost))
    with pytest.raises(FormatError, match="3 spans have no trace id and were left out"):
        traces(path)
    problems: list[Problem] = []
    (trace,) = traces(write_lines(path, otlp(*lost), otlp(*spans(1))), problems=problems)
    assert trace.turns[0].user == "Question 1?"
    assert [problem.message for problem in problems] == [
        "3 spans have no trace id and were left out"
    ]


def test_trace_that_records_nothing_is_a_warning(tmp_path: Path):
    agent = spans(0)[0]
    problems: list[Problem] = []
    found = traces(
        write_lines(tmp_path / "t.jsonl", otlp(agent), otlp(*spans(1))), problems=problems
    )
    assert len(found) == 2
    (problem,) = problems
    assert problem.severity == "warning"
    assert problem.message.startswith("no text, tool call, error or token count in 1 trace: '0000")


def test_file_without_any_turn_is_an_error(tmp_path: Path):
    path = write_lines(tmp_path / "t.json", '[{"role": "user", "content": null}]')
    with pytest.raises(FormatError, match="no text, tool call, error or token count in 1 trace"):
        traces(path)
