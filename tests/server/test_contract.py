"""The command line, Python and REST are doors to the same use-cases: the same request gives the
same document through each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from carob import api
from carob.report import format_json
from carob.report.traces import traces_document
from carob.report.versions import diff_document
from tests.server.conftest import Client, start_server

SAMPLES = Path(__file__).parents[1] / "samples"
DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
GOLDEN, TRACES = "support.evalset.json", "good.otlp.jsonl"
METRIC = "tool_trajectory_avg_score"


class Doors(NamedTuple):
    """A folder with data, and a server for it."""

    folder: Path
    client: Client

    def run_command(self, *args: str) -> Any:
        carob = Path(sys.executable).with_name("carob")
        done = subprocess.run(
            [str(carob), *args, "--format", "json"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def call(self, function: Callable[[], object]) -> Any:
        """Call Python in the folder, and return the JSON document of the result."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            return json.loads(format_json(function()))

    def upload(self, path: str, file: str) -> Any:
        answer = self.client.upload(path, self.folder / file)
        assert answer.status in (200, 201), answer.body
        return answer.json()

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status == 200, answer.body
        return answer.json()

    def post(self, path: str, body: object) -> Any:
        headers = {"Content-Type": "application/json"}
        answer = self.client.ask("POST", path, json.dumps(body).encode(), headers)
        assert answer.status in (200, 202), answer.body
        return answer.json()

    def make_run(self, body: object) -> str:
        job = self.post("/api/runs", body)
        for _ in range(300):
            state = self.get(f"/api/jobs/{job['id']}")
            if state["state"] not in ("waiting", "running"):
                assert state["state"] == "done", state
                return state["run"]
            time.sleep(0.05)
        raise AssertionError("the run did not end")


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    folder = tmp_path_factory.mktemp("doors")
    for file in (DEMO / GOLDEN, DEMO / "support.csv", *(DEMO / "traces").iterdir()):
        shutil.copy(file, folder)
    shutil.copy(SAMPLES / "adk" / "returns.json", folder)
    (folder / "broken.json").write_text('{"eval_set_id": "x", "eval_cases": [{"conversation": 7}]}')
    (folder / "golden").mkdir()
    shutil.copy(DEMO / GOLDEN, folder / "golden")
    started = start_server(folder)
    yield Doors(folder, started.client)
    assert started.stop() == 0


@pytest.mark.parametrize("file", [GOLDEN, "returns.json", "support.csv", "broken.json"])
def test_validation_is_the_same(doors: Doors, file: str):
    expected = doors.run_command("validate", file)
    assert doors.upload("/api/validate", file) == expected
    assert doors.call(lambda: {"files": api.datasets.validate(file)}) == expected


@pytest.mark.parametrize("file", [GOLDEN, "support.csv"])
def test_summary_is_the_same(doors: Doors, file: str):
    expected = doors.run_command("show", file)
    assert doors.upload("/api/show", file) == expected
    assert doors.call(lambda: api.datasets.summarise(file)) == expected


@pytest.mark.parametrize("file", [GOLDEN, "returns.json"])
def test_findings_are_the_same(doors: Doors, file: str):
    expected = doors.run_command("lint", file)
    assert doors.upload("/api/lint", file) == expected
    assert doors.call(lambda: {"files": api.lint.lint(file)}) == expected


@pytest.mark.parametrize("to", ["csv", "explain", "examples"])
def test_conversion_is_the_same(doors: Doors, to: str):
    suffix = {"csv": "csv", "explain": "jsonl", "examples": "json"}[to]
    expected = doors.run_command("convert", GOLDEN, f"by-command.{suffix}", "--to", to)
    assert doors.upload(f"/api/convert?to={to}", GOLDEN) == expected
    converted = doors.call(lambda: api.datasets.convert(GOLDEN, f"by-call.{suffix}", to=to))
    assert converted == expected
    file = doors.client.upload(f"/api/convert?to={to}&output=file", doors.folder / GOLDEN)
    assert file.body == (doors.folder / f"by-command.{suffix}").read_bytes()
    assert file.body == (doors.folder / f"by-call.{suffix}").read_bytes()


def test_difference_is_the_same(doors: Doors):
    expected = doors.run_command("diff", GOLDEN, "returns.json")
    assert doors.upload("/api/diff?base=bike_shop_support", "returns.json") == expected
    assert doors.call(lambda: diff_document(api.versions.diff(GOLDEN, "returns.json"))) == expected


def test_traces_are_the_same(doors: Doors):
    expected = doors.run_command("traces", TRACES)
    uploaded = doors.upload("/api/traces", TRACES)
    assert _without_source(uploaded["content"]) == _without_source(expected)
    stored = doors.get(f"/api/traces/{uploaded['upload']['id']}")
    assert _without_source(stored) == _without_source(expected)
    assert doors.call(lambda: traces_document(api.traces.list_traces(TRACES))) == expected


def _without_source(document: dict[str, Any]) -> list[dict[str, Any]]:
    """An upload is stored in a folder of its own, which is nobody's business."""
    return [{**trace, "source": ""} for trace in document["traces"]]


def test_metrics_and_schemas_are_the_same(doors: Doors):
    expected = doors.run_command("metrics")
    assert doors.get("/api/metrics") == expected
    assert doors.call(lambda: {"metrics": api.metrics.metrics()}) == expected
    carob = Path(sys.executable).with_name("carob")
    printed = subprocess.run([str(carob), "schema", "adk"], capture_output=True, check=True).stdout
    assert doors.get("/api/formats/adk") == json.loads(printed)


def test_runs_comparisons_and_gates_are_the_same(doors: Doors):
    """The id of a run covers its data, metrics and outcomes, so that equal ids are equal runs."""
    runs: list[str] = []
    for file in (TRACES, "regressed.otlp.jsonl"):
        where = ("--where", "len(turns) > 0")
        printed = doors.run_command("run", file, "--golden", GOLDEN, "-m", METRIC, *where)
        upload = doors.upload("/api/traces", file)["upload"]["id"]
        request = {"dataset": "bike_shop_support", "traces": [upload], "metrics": [METRIC]}
        runs.append(doors.make_run({**request, "where": "len(turns) > 0"}))
        called = doors.call(
            lambda file=file: api.runs.run(
                file, golden=GOLDEN, metrics=METRIC, where="len(turns) > 0"
            )
        )
        assert printed["id"] == runs[-1] == called["id"]
        served = doors.get(f"/api/runs/{runs[-1]}")
        for document in (printed, called, served):
            document.pop("created_at")
        assert printed == called == served
        report = doors.run_command("report", runs[-1])
        assert doors.get(f"/api/runs/{runs[-1]}/report.json") == report
    compared = doors.run_command("compare", *runs)
    assert doors.get(f"/api/compare?base={runs[0]}&run={runs[1]}") == compared
    gate = doors.run_command("gate", runs[1], "--baseline", runs[0])
    assert doors.post("/api/gate", {"run": runs[1], "baseline": runs[0]}) == gate
    assert (gate["run"], gate["baseline"]) == (runs[1], runs[0])


def test_history_is_the_same(doors: Doors):
    expected = doors.run_command("runs", "--limit", "2")
    assert doors.get("/api/runs?limit=2")["items"] == expected["runs"]


def test_release_is_the_same(doors: Doors):
    body = {"by": "Mara", "note": ["First release"]}
    headers = {"Content-Type": "application/json"}
    path = "/api/datasets/bike_shop_support/release"
    answer = doors.client.ask("POST", path, json.dumps(body).encode(), headers)
    assert answer.status == 201
    command = ("versions", "bike_shop_support")
    listed = doors.run_command(*command)
    assert doors.get("/api/datasets/bike_shop_support/versions")["items"] == listed["releases"]
