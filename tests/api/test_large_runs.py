from __future__ import annotations

import json
from pathlib import Path

import pytest

import carob
from carob.api.history import find_run
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.files.spool import SpooledSequence
from carob.report.forms import RUN_FORMS, ReportInputs, format_report

ROWS = 30


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")


@pytest.fixture
def spill_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep next to nothing in memory, as if the data were a thousand times as large."""
    monkeypatch.setattr("carob.files.spool.IN_MEMORY", 4)
    monkeypatch.setattr("carob.runner.results.IN_MEMORY", 4)
    monkeypatch.setattr("carob.traces.reading.trace_table.IN_MEMORY", 4)
    monkeypatch.setattr("carob.traces.read.MAX_IN_MEMORY", 0)


def write_golden(folder: Path) -> Path:
    rows = [f"Question {number}?,Answer {number},tag-{number % 3}" for number in range(ROWS)]
    path = folder / "golden.csv"
    path.write_text("\n".join(["Input,ExpectedOutput,Tags", *rows, ""]))
    return path


def write_traces(folder: Path) -> Path:
    """Two traces for every case but the last, in an order of their own."""
    path = folder / "traces.otlp.jsonl"
    numbers = [number * 7 % ROWS for number in range(ROWS) if number * 7 % ROWS != ROWS - 1]
    lines = [
        _line(number, repeat, "wrong" if number % 5 == 0 else f"Answer {number}")
        for repeat in range(2)
        for number in numbers
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def _line(number: int, repeat: int, answer: str) -> str:
    texts = {"input": ("user", f"question {number}?"), "output": ("assistant", answer)}
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}
    for key, (role, text) in texts.items():
        message = {"role": role, "parts": [{"type": "text", "content": text}]}
        attributes[f"gen_ai.{key}.messages"] = json.dumps([message])
    span = {
        "traceId": f"{number + 1:030x}{repeat:02x}",
        "spanId": f"{number + 1:016x}",
        "name": "invoke_agent shop",
        "startTimeUnixNano": str(10**18 + number),
        "endTimeUnixNano": str(10**18 + number + 1),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def run_json(folder: Path, *, jobs: int = 1) -> str:
    request = RunRequest(
        traces=[write_traces(folder)],
        golden=write_golden(folder),
        metrics=["exact_match"],
        thresholds={"exact_match": "0.5"},
        jobs=jobs,
        store=str(folder / "store.db"),
    )
    run = evaluate(request).run
    stored = find_run("latest", store=str(folder / "store.db"))
    assert list(stored.cases) == list(run.cases)
    return format_report("json", ReportInputs(run))


def test_large_run_is_the_same_as_one_in_memory(tmp_path: Path, request: pytest.FixtureRequest):
    expected = run_json(tmp_path)
    assert json.loads(expected)["summary"]["cases"]["total"] == 2 * ROWS - 1
    request.getfixturevalue("spill_early")
    assert run_json(tmp_path) == expected
    assert run_json(tmp_path, jobs=2) == expected


@pytest.mark.usefixtures("spill_early")
def test_every_form_of_a_large_run_can_be_written(tmp_path: Path):
    golden = write_golden(tmp_path)
    run = carob.run(write_traces(tmp_path), golden=golden, metrics=["exact_match"])
    assert isinstance(run.cases, SpooledSequence)
    lines = {case.case or "": (str(golden), 1) for case in run.cases}
    for form in RUN_FORMS:
        assert format_report(form, ReportInputs(run, load_case_lines=lambda: lines))
