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
    """An agent that asks its model, calls a tool and answers."""
    trace_id = f"{number + 1:032x}"
    began = START + start * 10**9

    def span(key: int, name: str, **attributes: object) -> dict[str, Any]:
        held = dict(attributes)
        if session:
            held["gen_ai.conversation.id"] = session
        return {
            "traceId": trace_id,
            "spanId": f"{(number + 1) * 16 + key:016x}",
            **({"parentSpanId": f"{(number + 1) * 16 + 1:016x}"} if key > 1 else {}),
            "name": name,
            "startTimeUnixNano": began + key * 1000,
            "endTimeUnixNano": began + key * 1000 + (10**6 if key == 1 else 500),
            "attributes": {name.replace("__", "."): value for name, value in held.items()},
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


def otlp(*found: dict[str, Any]) -> str:
    """One export request."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(map(_pairs, found))}]}]})


def _pairs(span: dict[str, Any]) -> dict[str, Any]:
    pairs = [
        {"key": key, "value": {"intValue" if isinstance(held, int) else "stringValue": held}}
        for key, held in span["attributes"].items()
    ]
    return {**span, "attributes": pairs}


def snake(*found: dict[str, Any]) -> str:
    """The same request in the other spelling."""
    text = otlp(*found)
    for key in ("resourceSpans", "scopeSpans", "traceId", "spanId", "parentSpanId"):
        text = text.replace(key, "".join(f"_{c.lower()}" if c.isupper() else c for c in key))
    text = text.replace("startTimeUnixNano", "start_time_unix_nano")
    text = text.replace("endTimeUnixNano", "end_time_unix_nano")
    return text.replace("stringValue", "string_value").replace("intValue", "int_value")


def flat(*found: dict[str, Any]) -> str:
    """The spans alone, one a line."""
    return "\n".join(map(json.dumps, found))


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def traces(*paths: Path, problems: list[Problem] | None = None) -> list[Trace]:
    report = (problems if problems is not None else []).append
    found = list(read_traces(paths, report=report))
    return [msgspec.structs.replace(trace, source=None) for trace in found]


@pytest.fixture
def in_little_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collect, "MAX_HELD", 0)
    monkeypatch.setattr(read, "MAX_IN_MEMORY", 0)


def test_a_trace_has_what_the_agent_did(tmp_path: Path):
    (trace,) = traces(written(tmp_path / "t.jsonl", otlp(*spans(0))))
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Question 0?", "Answer 0.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find_order", {"id": 0})]
    assert trace.usage.input_tokens == 10


def test_traces_are_in_order_of_time_for_any_order_of_lines(tmp_path: Path):
    lines = [otlp(*spans(0, start=9)), otlp(*spans(1, start=3)), otlp(*spans(2, start=6))]
    found = traces(written(tmp_path / "t.jsonl", *lines))
    assert [trace.turns[0].user for trace in found] == ["Question 1?", "Question 2?", "Question 0?"]


def test_traces_of_one_conversation_are_one_session(tmp_path: Path):
    lines = [otlp(*spans(n, session="s-1", start=10 - n)) for n in range(3)]
    (session,) = traces(written(tmp_path / "t.jsonl", *lines))
    assert session.id == "s-1"
    assert [turn.user for turn in session.turns] == ["Question 2?", "Question 1?", "Question 0?"]
    assert session.attributes["trace_ids"] == [f"{n + 1:032x}" for n in (2, 1, 0)]


def test_several_files_are_one_input(tmp_path: Path):
    root, tool, model = spans(0)
    one = written(tmp_path / "one.jsonl", otlp(model), otlp(tool))
    two = written(tmp_path / "two.jsonl", otlp(root))
    assert traces(one, two) == traces(written(tmp_path / "all.jsonl", otlp(root, tool, model)))


def test_a_packed_file_is_joined_with_a_plain_one(tmp_path: Path, in_little_memory: None):
    root, tool, model = spans(0)
    plain = written(tmp_path / "one.jsonl", otlp(root), *(otlp(*spans(n)) for n in range(1, 5)))
    packed = tmp_path / "two.jsonl.gz"
    packed.write_bytes(gzip.compress(f"{otlp(tool)}\n{otlp(model)}\n".encode()))
    whole = written(tmp_path / "all.jsonl", *(otlp(*spans(n)) for n in range(5)))
    assert traces(plain, packed) == traces(whole)


def test_a_trace_that_comes_in_pieces_is_read_again(tmp_path: Path, in_little_memory: None):
    early = [otlp(spans(n)[0]) for n in range(5)]
    late = [otlp(*spans(n)[1:]) for n in range(5)]
    whole = written(tmp_path / "all.jsonl", *(otlp(*spans(n)) for n in range(5)))
    assert traces(written(tmp_path / "t.jsonl", *early, *late)) == traces(whole)


def test_logs_that_belong_to_no_span_are_named(tmp_path: Path):
    log = {"traceId": "f" * 32, "spanId": "f" * 16, "body": {"stringValue": "hm"}}
    logs = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [log, log]}]}]})
    problems: list[Problem] = []
    traces(written(tmp_path / "t.jsonl", otlp(*spans(0)), logs), problems=problems)
    assert [problem.message for problem in problems] == [
        "2 log records belong to no span that was read"
    ]


def test_a_cut_last_line_is_a_warning(tmp_path: Path):
    problems: list[Problem] = []
    path = written(tmp_path / "t.jsonl", otlp(*spans(0)), otlp(*spans(1))[:300])
    assert len(traces(path, problems=problems)) == 1
    assert [(p.severity, p.where) for p in problems] == [("warning", f"{path} line 2")]


def test_spans_without_an_agent_are_an_error_that_lists_span_names(tmp_path: Path):
    http = {**spans(0)[0], "name": "GET /health", "attributes": {"http.method": "GET"}}
    with pytest.raises(FormatError, match=r"in 1 trace; span names: 'GET /health'"):
        traces(written(tmp_path / "t.jsonl", otlp(http)))


def test_spans_without_an_agent_beside_others_are_a_note(tmp_path: Path):
    http = {**spans(1)[0], "name": "GET /health", "attributes": {"http.method": "GET"}}
    problems: list[Problem] = []
    path = written(tmp_path / "t.jsonl", otlp(*spans(0)), otlp(http))
    assert len(traces(path, problems=problems)) == 1
    assert [problem.severity for problem in problems] == ["note"]


def test_an_empty_export_is_an_error(tmp_path: Path):
    with pytest.raises(FormatError, match="no spans"):
        traces(written(tmp_path / "t.json", '{"resourceSpans": []}'))


def test_no_file_and_no_such_file_are_errors(tmp_path: Path):
    with pytest.raises(UsageError, match="no file to read"):
        traces()
    with pytest.raises(InputError, match="no such file"):
        traces(tmp_path / "missing.jsonl")


def test_a_duplicate_trace_counts_once_and_a_different_one_of_its_id_is_numbered(tmp_path: Path):
    def chat(answer: str) -> str:
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
        return json.dumps({"task_id": "t-1", "messages": messages})

    found = traces(written(tmp_path / "t.jsonl", chat("Hello"), chat("Hello"), chat("Bye")))
    assert sorted(trace.id for trace in found) == ["t-1", "t-1#2"]
    assert {trace.turns[0].response for trace in found} == {"Hello", "Bye"}


def test_nothing_is_left_on_disk(tmp_path: Path, in_little_memory: None):
    path = written(tmp_path / "t.jsonl", *(otlp(*spans(n)) for n in range(4)))
    with open_traces([path], report=lambda _: None) as trace_set:
        folder = trace_set.folder
        assert [file.stat().st_size > 0 for file in folder.iterdir()] == [True]
        assert len(list(trace_set)) == len(trace_set) == 4
    assert not folder.exists()


def test_several_processes_give_the_same_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lines = [otlp(*spans(n, session=f"s-{n % 7}", start=n * 7 % 40)[:2]) for n in range(40)]
    lines += [otlp(spans(n, session=f"s-{n % 7}", start=n * 7 % 40)[2]) for n in range(40)]
    path = written(tmp_path / "t.jsonl", *lines)
    alone = list(read_traces([path], report=lambda _: None))
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    with open_traces([path], report=lambda _: None, jobs=2) as trace_set:
        shared = [trace for shard in trace_set.shards(3) for trace in shard.traces()]
    assert shared == alone


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_reported_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int):
    path = written(tmp_path / "t.jsonl", *[otlp(*spans(n)) for n in range(20)])
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


def test_many_traces_that_never_end_are_all_there(tmp_path: Path, in_little_memory: None):
    lines = [otlp(spans(n)[1]) for n in range(300)]
    assert len(traces(written(tmp_path / "t.jsonl", *lines))) == 300


def test_many_traces_that_never_end_do_not_slow_each_other_down(tmp_path: Path):
    path = written(tmp_path / "t.jsonl", *[otlp(spans(n)[1]) for n in range(15_000)])
    started = time.process_time()
    assert len(traces(path)) == 15_000
    assert time.process_time() - started < 4


def test_a_file_that_is_broken_for_one_process_is_read_as_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    metrics = '{"resourceMetrics": []}'
    path = written(tmp_path / "t.jsonl", *[metrics] * 200, otlp(*spans(0)))
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    with open_traces([path], report=lambda _: None, jobs=2) as trace_set:
        assert len(trace_set) == 1


def test_ten_thousand_levels_are_an_error_that_names_the_line(tmp_path: Path):
    deep = '{"resourceSpans": ' + "[" * 10_000 + "]" * 10_000 + "}"
    path = written(tmp_path / "t.jsonl", otlp(*spans(0)), deep)
    with pytest.raises(FormatError, match="nested too deeply") as caught:
        traces(path)
    assert caught.value.where == f"{path} line 2"


def test_ten_thousand_agents_within_each_other_are_one_trace(tmp_path: Path):
    agent = spans(0)[0]
    chain = [
        {**agent, "spanId": f"{n + 1:016x}", **({"parentSpanId": f"{n:016x}"} if n else {})}
        for n in range(10_000)
    ]
    (trace,) = traces(written(tmp_path / "t.jsonl", otlp(*chain)))
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
def test_order_duplicates_and_files_play_no_part(
    tmp_path: Path, found: list[Spans], dice: random.Random, little: bool
):
    whole = traces(written(tmp_path / "all.jsonl", *(otlp(*group) for group in found)))
    lines = [otlp(span) for group in found for span in group]
    lines += dice.sample(lines, k=dice.randrange(len(lines)))
    dice.shuffle(lines)
    cut = dice.randrange(1, len(lines))
    one = written(tmp_path / "one.jsonl", *lines[:cut])
    two = written(tmp_path / "two.jsonl", *lines[cut:])
    with pytest.MonkeyPatch.context() as patch:
        if little:
            patch.setattr(collect, "MAX_HELD", 0)
            patch.setattr(read, "MAX_IN_MEMORY", 0)
        assert traces(one, two) == whole


@lenient
@given(inputs())
def test_every_container_gives_the_same_traces(tmp_path: Path, found: list[Spans]):
    every = [span for group in found for span in group]
    whole = traces(written(tmp_path / "otlp.json", otlp(*every)))
    assert traces(written(tmp_path / "snake.json", snake(*every))) == whole
    assert traces(written(tmp_path / "flat.jsonl", flat(*every))) == whole
    assert traces(written(tmp_path / "list.json", json.dumps(every, indent=2))) == whole


@lenient
@given(st.binary(max_size=400), st.integers(0, 2000))
def test_spoiled_bytes_are_an_error_of_ours_or_none(tmp_path: Path, noise: bytes, at: int):
    data = otlp(*spans(0)).encode()
    path = tmp_path / "t.jsonl"
    path.write_bytes(data[:at] + noise + data[at:] + b"\n" + data)
    with suppress(CarobError):
        traces(path)


def test_log_records_without_any_span_are_named_as_such(tmp_path: Path):
    record = {"traceId": "a" * 32, "timeUnixNano": "5", "body": {"stringValue": "x"}}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (tmp_path / "logs.json").write_text(json.dumps(logs))
    with pytest.raises(FormatError, match="1 log records, but none of their spans"):
        list(read_traces([tmp_path / "logs.json"], report=lambda problem: None))


def test_a_folder_is_an_error_that_names_the_way(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        traces(tmp_path)
    assert caught.value.hint == f"name the files in it: {tmp_path}/*"
