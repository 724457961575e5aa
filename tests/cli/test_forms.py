from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karat.cli import karat


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("karat") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(*args: str, golden: tuple[str, ...] = ("--golden", "support.evalset.json")) -> Result:
    traces = "traces/regressed.otlp.jsonl"
    return CliRunner().invoke(karat, ["run", traces, *golden, "--no-store", *args])


def report(*args: str) -> Result:
    return CliRunner().invoke(karat, ["report", "run.json", *args])


def test_a_page_is_written_to_a_file_and_the_exit_code_stays():
    result = run("--format", "html", "-o", "report.html")
    assert (result.exit_code, result.output) == (1, "")
    assert Path("report.html").read_text("utf-8").startswith("<!doctype html>")


def test_sarif_names_the_lines_at_which_cases_start():
    results = json.loads(run("--format", "sarif").stdout)["runs"][0]["results"]
    lines = Path("support.evalset.json").read_text("utf-8").splitlines()
    for one in results:
        start = one["locations"][0]["physicalLocation"]["region"]["startLine"]
        case = one["message"]["text"].partition(":")[0]
        assert f'"eval_id": "{case}"' in "".join(lines[start - 1 : start + 1])
    assert len(results) == 7


def test_sarif_of_a_run_that_is_read_back_needs_the_golden_data():
    run("--format", "json", "-o", "run.json")
    refused = report("--format", "sarif")
    assert "give the golden data with --golden" in getattr(refused.exception, "hint", "")
    shown = report("--format", "sarif", "--golden", "support.evalset.json")
    assert shown.stdout == run("--format", "sarif").stdout


@pytest.mark.parametrize("form", ["csv", "md", "html", "junit", "summary", "qa", "agents"])
def test_a_run_that_is_read_back_looks_the_same(form: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772438400")
    run("--format", "json", "-o", "run.json")
    assert report("--format", form).stdout == run("--format", form).stdout != ""
