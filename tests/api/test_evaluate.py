"""The use-case of a whole run: settings, plan, scoring, saving, report inputs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from carob.api.history import find_run
from carob.api.run_request import Listeners, RunRequest
from carob.api.runs import evaluate
from carob.schema import Problem
from carob.store import open_store
from carob.store.run_pages import read_trace

TRACES, GOLDEN = "traces/good.otlp.jsonl", "support.evalset.json"
METRIC = "response_match_score"
COUNT_OPENS = f"""
import sys
opened = []
sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == "open" else None)
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
for keep in (False, True):
    opened.clear()
    evaluate(RunRequest(traces=[{TRACES!r}], metrics=[{METRIC!r}], keep_traces=keep))
    print(*[sum(file.endswith(name) for file in opened) for name in ({TRACES!r}, "carob.toml")])
"""


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAROB_STORE", "runs.db")


def request(*, store: str | None = None, **changes: object) -> RunRequest:
    return RunRequest(traces=[TRACES], golden=GOLDEN, metrics=[METRIC], store=store, **changes)  # pyright: ignore[reportArgumentType] - fields of the request


def kept_traces() -> int:
    with open_store("runs.db") as database:
        return next(iter(database.rows("SELECT COUNT(*) FROM case_traces", ())))[0]  # pyright: ignore[reportReturnType] - a count


def test_run_is_saved_when_it_is_returned():
    evaluation = evaluate(request(labels={"side": "a"}))
    assert find_run("latest").id == evaluation.run.id
    assert evaluation.store == "runs.db"


def test_run_without_a_store_is_not_saved():
    assert evaluate(request(save=False)).store is None
    assert not Path("runs.db").exists()


@pytest.mark.parametrize(
    ("metric", "threshold", "warns"),
    [
        (METRIC, "0", True),
        (METRIC, "0.01", False),
        ("token_usage", "0", False),
    ],
)
def test_threshold_that_every_score_reaches_is_named(metric: str, threshold: str, warns: bool):
    problems: list[Problem] = []
    planned = RunRequest(
        traces=[TRACES], golden=GOLDEN, metrics=[metric], thresholds={metric: threshold}, save=False
    )
    evaluate(planned, Listeners(problem=problems.append))
    texts = [problem.message for problem in problems]
    expected = f"every score of {metric} reaches the threshold {threshold}, which decides nothing"
    assert texts == ([expected] if warns else [])


@pytest.mark.parametrize(("metric", "warns"), [(METRIC, True), ("contract", False)])
def test_profile_that_decides_nothing_is_named(metric: str, warns: bool):
    problems: list[Problem] = []
    planned = RunRequest(
        golden="support.explain.jsonl",
        metrics=[metric],
        profile="prep_default",
        save=False,
    )
    evaluate(planned, Listeners(problem=problems.append))
    expected = "the profile prep_default decides nothing: no metric of the run is part of it"
    assert [problem.message for problem in problems] == ([expected] if warns else [])


def test_run_that_cannot_be_saved_is_returned_with_a_warning():
    Path("folder").mkdir()
    problems: list[Problem] = []
    evaluation = evaluate(request(store="folder"), Listeners(problem=problems.append))
    assert evaluation.run.cases
    assert [problem.severity for problem in problems] == ["warning"]
    assert problems[0].message.startswith("the run was not saved: ")


@pytest.mark.parametrize("jobs", [1, 2])
def test_traces_are_saved_with_the_cases_they_were_scored_with(jobs: int):
    run = evaluate(request(keep_traces=True, jobs=jobs)).run
    assert kept_traces() == sum(case.trace is not None for case in run.cases) > 0


def test_config_and_traces_are_read_once_even_if_traces_are_saved():
    Path("carob.toml").write_text(f"[run]\ngolden = '{GOLDEN}'\n")
    process = subprocess.run(
        [sys.executable, "-c", COUNT_OPENS], capture_output=True, text=True, check=True
    )
    plain, with_traces = (line.split() for line in process.stdout.splitlines())
    assert plain == with_traces
    assert with_traces[1] == "1"


def test_reports_get_the_lines_of_cases_the_metrics_and_earlier_runs():
    first = evaluate(request())
    inputs = evaluate(request()).report_inputs(by=["agent"])
    assert inputs.by == ["agent"]
    assert {*inputs.load_case_lines()} >= {case.case for case in first.run.cases}
    assert METRIC in {metric.name for metric in inputs.load_metrics()}
    assert first.run.id in {entry.id for entry in inputs.load_earlier_runs()}


def test_spans_are_saved_with_the_traces_of_span_files():
    evaluate(request(keep_traces=True))
    with open_store("runs.db") as database:
        trace = read_trace(database, 1, 0)
    assert trace
    assert "execute_tool" in " ".join(span.name for span in trace.spans)
