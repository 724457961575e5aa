from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import carob as library
from carob.cli import carob
from carob.errors import CarobError

DATA = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"


def call(*args: str) -> Result:
    return CliRunner().invoke(carob, args)


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    for agent in ("good", "regressed"):
        traces = str(DATA / "traces" / f"{agent}.otlp.jsonl")
        golden = str(DATA / "support.evalset.json")
        labels = ["--label", "batch=spring", "--label", f"agent={agent}"]
        call("run", traces, "--golden", golden, "-m", "tool_usage_accuracy", *labels)
    return "spring"


def test_runs_of_a_batch_are_named_by_the_labels_that_differ(batch: str):
    result = call("leaderboard", "--batch", batch, "--format", "json")
    board = json.loads(result.stdout)
    assert [run["name"] for run in board["runs"]] == ["agent=good", "agent=regressed"]
    assert [case["case"] for case in board["separating"]] == ["warranty_frame"]


def test_every_form_has_the_same_numbers(batch: str):
    rows = [
        *csv.DictReader(
            io.StringIO(call("leaderboard", "--batch", batch, "--format", "csv").stdout)
        )
    ]
    assert [(row["rank"], row["value"]) for row in rows] == [("1", "1.0"), ("1", "0.875")]
    assert (
        "| 1 | agent=regressed | 0.875 |"
        in call("leaderboard", "--batch", batch, "--format", "md").stdout
    )
    page = call("leaderboard", "--batch", batch, "--format", "html").stdout
    assert "<td>0.875</td>" in page
    assert "<script" not in page
    assert library.leaderboard(batch=batch).runs[1].value == 0.875


def test_only_the_newest_run_of_each_name_counts(batch: str):
    before = call("leaderboard", "--batch", batch).stdout
    traces = str(DATA / "traces" / "good.otlp.jsonl")
    arguments = ["--golden", str(DATA / "support.evalset.json"), "-m", "tool_usage_accuracy"]
    call("run", traces, *arguments, "--label", "batch=spring", "--label", "agent=good")
    assert call("leaderboard", "--batch", batch).stdout == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch", "autumn"], "no run has the label batch=autumn"),
        (["latest"], "a leaderboard needs at least two runs"),
        (["latest", "--batch", "spring"], "cannot rank named runs and a batch"),
    ],
)
def test_wrong_selections_are_refused(batch: str, arguments: list[str], message: str):
    result = call("leaderboard", *arguments)
    assert isinstance(result.exception, CarobError)
    assert result.exception.exit_code == 2
    assert message in result.exception.message
