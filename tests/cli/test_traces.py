from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from carob.api.load import load as carob_load
from carob.cli import carob
from carob.errors import CarobError

START = 1_780_000_000 * 10**9


def span(key: int, name: str, **attributes: str | int) -> dict[str, Any]:
    pairs = [
        {"key": key, "value": {"intValue" if isinstance(value, int) else "stringValue": value}}
        for key, value in attributes.items()
    ]
    return {
        "traceId": "a" * 32,
        "spanId": f"{key:016x}",
        "parentSpanId": f"{1:016x}" if key > 1 else "",
        "name": name,
        "startTimeUnixNano": str(START + key),
        "endTimeUnixNano": str(START + key + 2 * 10**9),
        "attributes": pairs,
    }


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "orders"}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find_order",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"id": 8812}',
        "gen_ai.tool.call.result": "\x1b[2Jshipped",
    }
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": message("user", "I am jo.b@mail.example, where is my order?"),
        "gen_ai.output.messages": message("assistant", "On its way."),
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 4,
    }
    spans = [span(1, "invoke_agent orders", **agent), span(2, "t", **tool), span(3, "m", **model)]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(carob, [str(arg) for arg in args])


def test_json_has_exactly_the_keys_of_the_contract(trace_file: Path):
    document = json.loads(run("traces", trace_file, "--format", "json").stdout)
    (trace,) = document["traces"]
    assert list(document) == ["traces", "problems"]
    assert list(trace) == [
        "id", "source", "convention", "agents", "turns", "state", "models", "usage",
        "duration_ms", "supports",
    ]  # fmt: skip
    assert trace["usage"] == {
        "input_tokens": 12,
        "output_tokens": 4,
        "cached_tokens": None,
        "reasoning_tokens": None,
        "total_tokens": 16,
    }
    (turn,) = trace["turns"]
    assert turn["tool_calls"] == [{"id": "c1", "name": "find_order", "args": {"id": 8812}}]
    assert [list(result) for result in turn["tool_results"]] == [["id", "name", "result", "error"]]
    assert trace["supports"]["token_usage"] is None
    assert trace["supports"]["state_management_fidelity"] == "the session state was not recorded"


def test_text_shows_turns_and_cannot_control_the_terminal(trace_file: Path):
    output = run("traces", trace_file).stdout
    assert "    user      I am jo.b@mail.example, where is my order?\n" in output
    assert "    calls     find_order(id=8812)\n" in output
    assert "  state       not recorded\n" in output
    assert "metrics supported by this trace" in output
    assert "\x1b" not in output
    assert max(map(len, output.splitlines())) <= 100


def test_file_without_traces_is_an_error(tmp_path: Path):
    path = tmp_path / "empty.json"
    path.write_text('{"resourceSpans": []}')
    result = run("traces", path)
    assert isinstance(result.exception, CarobError)


def test_trace_becomes_a_valid_golden_case(trace_file: Path, tmp_path: Path):
    golden = tmp_path / "golden.evalset.json"
    output = run("capture", trace_file, golden, "--to", "adk").stdout
    assert output.startswith(f"1 case written to {golden} (adk)\n")
    assert run("validate", golden).exit_code == 0


def test_same_trace_gives_the_same_bytes(trace_file: Path, tmp_path: Path):
    first, second = tmp_path / "one" / "g.json", tmp_path / "two" / "g.json"
    for path in (first, second):
        path.parent.mkdir()
        run("capture", trace_file, path, "--to", "questions")
    assert first.read_bytes() == second.read_bytes()


def test_personal_data_is_masked_on_request(trace_file: Path, tmp_path: Path):
    pytest.importorskip("phonenumbers")
    golden = tmp_path / "golden.json"
    run("capture", trace_file, golden, "--to", "questions", "--mask")
    (case,) = json.loads(golden.read_text())["golden_questions"]
    assert case["user_inputs"] == ["I am <email-1>, where is my order?"]


def test_logged_queries_become_questions_for_an_agent(tmp_path: Path):
    log = tmp_path / "raw_logs.json"
    log.write_text(json.dumps([{"query": "Hi"}, {"query": "Where is my order?"}]))
    golden = tmp_path / "golden.json"
    run("capture", log, golden, "--agent", "orders", "--to", "questions")
    (case,) = json.loads(golden.read_text())["golden_questions"]
    assert case["agents_evaluated"] == ["orders"]
    assert case["user_inputs"] == ["Hi", "Where is my order?"]


def test_filters_without_a_match_write_nothing(trace_file: Path, tmp_path: Path):
    golden = tmp_path / "golden.json"
    result = run("capture", trace_file, golden, "--to", "adk", "--since", "2030-01-01")
    assert str(result.exception) == "no trace became a case; nothing was written"
    assert not golden.exists()


def test_invalid_time_is_an_error(trace_file: Path, tmp_path: Path):
    result = run("capture", trace_file, tmp_path / "g.json", "--to", "adk", "--since", "yesterday")
    assert str(result.exception) == "invalid time 'yesterday'"


@pytest.mark.parametrize(
    "command", [("traces",), ("run", "--no-store"), ("run", "--no-store", "--dry-run")]
)
def test_golden_data_passed_as_traces_is_a_clear_error(tmp_path: Path, command: tuple[str, ...]):
    file = tmp_path / "golden.csv"
    file.write_text("Input,ExpectedOutput\na,b\n")
    error = CliRunner().invoke(carob, [*command, str(file)]).exception
    assert str(error) == f"{file}: found golden data (csv), expected traces"


@pytest.mark.parametrize(
    "row",
    [
        {"timestamp": 1772528400, "query": "Hola", "respuesta": "Hi"},
        {"type": "run_started", "run_id": "r", "input": {"query": "Hi"}},
        {"input": "Hi", "trials": [{"output": "Hello"}]},
        {"run_type": "llm", "inputs": {"question": "Hi"}, "outputs": {"answer": "Hello"}},
    ],
    ids=["request", "event", "trials", "run"],
)
def test_log_that_is_not_read_is_not_called_golden_data(tmp_path: Path, row: dict[str, object]):
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(row) + "\n")
    error = CliRunner().invoke(carob, ["traces", str(file)]).exception
    assert "golden data" not in str(error)
    assert "is not a supported trace container" in str(error) or "no trace container" in str(error)


def test_traces_are_not_overwritten_with_golden_data(trace_file: Path, tmp_path: Path):
    copy = tmp_path / "other.json"
    copy.write_bytes(trace_file.read_bytes())
    result = run("capture", trace_file, copy, "--to", "adk")
    assert "already exists and is not golden data" in str(result.exception)
    assert copy.read_bytes() == trace_file.read_bytes()
    output = tmp_path / "made.json"
    assert [run("capture", trace_file, output, "--to", "adk").exit_code for _ in "ab"] == [0, 0]


def test_capture_reports_fields_without_an_equivalent(trace_file: Path, tmp_path: Path):
    result = run("capture", trace_file, tmp_path / "golden.csv", "--to", "csv")
    assert "no equivalent in csv" in result.stdout
    result = run("capture", trace_file, tmp_path / "golden.csv", "--to", "csv", "--format", "json")
    assert "turns[0].tool_calls" in [loss["field"] for loss in json.loads(result.stdout)["losses"]]


def test_capture_refuses_to_overwrite_another_file(trace_file: Path, tmp_path: Path):
    golden = tmp_path / "golden.json"
    golden.write_text('{"golden_questions": []}')
    result = run("capture", trace_file, golden, "--to", "questions")
    assert isinstance(result.exception, CarobError)
    assert str(result.exception) == f"{golden} already exists and differs"
    assert result.exception.hint == "pass --append to add the cases, or --force to overwrite"
    assert golden.read_text() == '{"golden_questions": []}'
    assert run("capture", trace_file, golden, "--to", "questions", "--force").exit_code == 0
    assert run("capture", trace_file, golden, "--to", "questions").exit_code == 0, "the same bytes"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("golden.json", "questions"),
        ("golden.evalset.json", "adk"),
        ("golden.csv", "csv"),
        ("golden.jsonl", "explain"),
        ("table.csv", "simulation"),
    ],
)
def test_capture_appends_after_the_cases_of_the_file(
    trace_file: Path, tmp_path: Path, name: str, form: str
):
    golden, second_file = tmp_path / name, tmp_path / "other.json"
    second_file.write_text(
        trace_file.read_text().replace("a" * 32, "b" * 32).replace("On its way", "No")
    )
    run("capture", trace_file, golden, "--to", form)
    output = run("capture", trace_file, second_file, golden, "--to", form, "--append").stdout
    assert output.startswith(f"1 case added to {golden} ({form})\n")
    assert "1 duplicate trace skipped" in output
    first, second = carob_load(golden).cases
    assert first.metadata["trace_id"] == "a" * 32
    assert second.metadata["trace_id"] == "b" * 32
    assert second.id == f"{first.id}-2"


def test_capture_appends_in_the_format_of_the_file(trace_file: Path, tmp_path: Path):
    golden = tmp_path / "golden.json"
    run("capture", trace_file, golden, "--to", "questions", "--append")
    result = run("capture", trace_file, golden, "--to", "adk", "--append")
    assert str(result.exception) == f"{golden} has the format questions, cannot append adk"
    assert run("capture", trace_file, golden, "--append").stdout.startswith("0 cases added")
    result = run("capture", trace_file, tmp_path / "new.json", "--append")
    assert str(result.exception) == "missing option --to"


def test_incomplete_token_counts_have_no_total():
    samples = Path(__file__).parents[1] / "samples/traces/captured"
    command = ["traces", str(samples / "openai_run_state.json"), "--format", "json"]
    result = CliRunner().invoke(carob, command)
    (trace,) = json.loads(result.stdout)["traces"]
    assert {*trace["usage"].values()} == {None}
