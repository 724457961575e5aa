from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(*args: str, release: str = "regressed") -> Result:
    traces = f"traces/{release}.otlp.jsonl"
    golden = ("--golden", "support.evalset.json")
    return CliRunner().invoke(carob, ["run", traces, *golden, *args])


def report(*args: str) -> Result:
    return CliRunner().invoke(carob, ["report", "run.json", *args])


def test_writing_a_page_to_a_file_keeps_the_exit_code():
    result = run("--no-store", "--format", "html", "-o", "report.html")
    assert (result.exit_code, result.stdout) == (1, "")
    assert Path("report.html").read_text("utf-8").startswith("<!doctype html>")


def test_sarif_names_the_lines_at_which_cases_start():
    results = json.loads(run("--no-store", "--format", "sarif").stdout)["runs"][0]["results"]
    lines = Path("support.evalset.json").read_text("utf-8").splitlines()
    for result in results:
        start = result["locations"][0]["physicalLocation"]["region"]["startLine"]
        case = result["message"]["text"].partition(":")[0]
        assert f'"eval_id": "{case}"' in "".join(lines[start - 1 : start + 1])
    assert len(results) == 7


def test_sarif_of_a_stored_run_needs_the_golden_data():
    run("--no-store", "--format", "json", "-o", "run.json")
    refused = report("--format", "sarif")
    assert "pass the golden data with --golden" in getattr(refused.exception, "hint", "")
    output = report("--format", "sarif", "--golden", "support.evalset.json")
    assert output.stdout == run("--no-store", "--format", "sarif").stdout


@pytest.mark.parametrize("form", ["csv", "md", "html", "junit", "summary", "qa", "agents"])
def test_run_read_from_a_file_looks_the_same(form: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772438400")
    run("--no-store", "--format", "json", "-o", "run.json")
    assert report("--format", form).stdout == run("--no-store", "--format", form).stdout != ""


def test_comparison_as_a_page_shows_what_flipped():
    run("--no-store", "--format", "json", "-o", "old.json", release="good")
    run("--no-store", "--format", "json", "-o", "new.json")
    output = CliRunner().invoke(carob, ["compare", "old.json", "new.json", "--format", "html"])
    assert "Flipped cases" in output.stdout
    assert '<a href="#case-3">repair_brake</a>' in output.stdout


def test_stored_runs_are_shown_as_a_trend(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772438400")
    run(release="good")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772524800")
    output = run("--format", "html")
    assert "Mean of tool_trajectory_avg_score over 2 runs, from 1 to 0.708." in output.stdout
    again = CliRunner().invoke(carob, ["report", "latest", "--format", "html"])
    assert again.stdout == output.stdout


def test_broken_store_costs_only_the_trend():
    Path("broken.db").write_text("no database", "utf-8")
    output = run("--store", "broken.db", "--format", "html")
    assert output.exit_code == 1
    assert output.stdout.startswith("<!doctype html>")
    assert "the run was not saved" in output.stderr
