"""Metrics in Python files: on the command line, in a trusted config, and in worker processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import carob
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.cli import carob as command
from carob.errors import CarobError, UntrustedError, UsageError
from carob.evaluators.python_metric import load_metric
from carob.schema import Case, Dataset

DATA = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
TONE = '''
import carob


@carob.metric(threshold=0.5)
def tone(case, trace, *, words: list[str] = ["please"]):
    """Whether the answer is friendly."""
    response = (trace.turns[-1].response or "").lower()
    return any(word in response for word in words)
'''
HOSE = Case.of("Price of the hose?", "19 euros", id="hose")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    (tmp_path / "tone.py").write_text(TONE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.parent / "state"))
    monkeypatch.delenv("CAROB_TRUST", raising=False)
    return tmp_path


def _answer(message: str) -> str:
    return f"{message} please"


def run(*args: str) -> dict[str, Any]:
    traces, golden = "traces/good.otlp.jsonl", "support.evalset.json"
    command_line = ["run", traces, "--golden", golden, "--no-store", "--format", "json", *args]
    result = CliRunner().invoke(command, command_line, catch_exceptions=True)
    if isinstance(result.exception, CarobError):
        raise result.exception
    return json.loads(result.stdout)


@pytest.mark.usefixtures("folder")
def test_file_on_the_command_line_is_a_metric():
    document = run("-m", "tone.py:tone", "--param", 'tone.py:tone.words=["the"]')
    (metric,) = document["metrics"]
    assert metric["name"] == "tone"
    assert metric["params"]["words"] == ["the"]
    assert metric["params"]["digest"].startswith("sha256:")
    assert run("-m", "tone.py")["metrics"][0]["name"] == "tone"


def test_changed_file_is_another_metric(folder: Path):
    before = run("-m", "tone.py:tone")["metrics"][0]["params"]["digest"]
    (folder / "tone.py").write_text(TONE + "\n# changed\n", "utf-8")
    assert run("-m", "tone.py:tone")["metrics"][0]["params"]["digest"] != before


@pytest.mark.usefixtures("folder")
def test_plain_function_and_python_api_work_too():
    Path("plain.py").write_text("def brief(case, trace): return 1.0\n", "utf-8")
    golden = Dataset(name="garden", cases=[HOSE])
    scores = carob.score(HOSE, "19 euros", metrics=["plain.py:brief", "tone.py:tone"])
    assert [score.metric for score in scores.result.scores] == ["brief", "tone"]
    result = carob.run(golden=golden, target=_answer, metrics="tone.py:tone")
    assert result.cases[0].status == "passed"


@pytest.mark.usefixtures("folder")
def test_mistakes_are_explained():
    with pytest.raises(UsageError, match="no such file"):
        run("-m", "tome.py:tone")
    with pytest.raises(UsageError, match="has no attribute 'tune'"):
        run("-m", "tone.py:tune")
    Path("two.py").write_text(TONE + TONE.replace("def tone", "def tact"), "utf-8")
    with pytest.raises(UsageError, match="the file defines 2 metrics"):
        run("-m", "two.py")
    Path("broken.py").write_text("1 / 0", "utf-8")
    with pytest.raises(UsageError, match=r"cannot import broken.py: ZeroDivisionError"):
        run("-m", "broken.py:x")
    Path("taken.py").write_text(TONE.replace("def tone", "def cost"), "utf-8")
    with pytest.raises(UsageError, match="metric 'cost' already exists"):
        run("-m", "taken.py")


@pytest.mark.usefixtures("folder")
def test_request_that_does_not_allow_code_gets_none():
    request = RunRequest(golden="support.evalset.json", metrics=["tone.py:tone"], save=False)
    with pytest.raises(UsageError, match=r"unknown metric 'tone\.py:tone'"):
        evaluate(request)


def test_config_runs_code_only_after_trust(folder: Path):
    config = folder / "carob.toml"
    config.write_text('[metrics.friendly]\ncode = "tone.py:tone"\nwords = ["the"]\n', "utf-8")
    with pytest.raises(UntrustedError, match=r"metrics\.friendly\.code = .*tone\.py"):
        run()
    document = run("--trust-config")
    assert [metric["name"] for metric in document["metrics"]] == ["friendly"]
    assert CliRunner().invoke(command, ["trust", "--yes"]).exit_code == 0
    run()
    (folder / "tone.py").write_text("open('owned', 'w')\n" + TONE, "utf-8")
    with pytest.raises(UntrustedError):
        run()
    assert not (folder / "owned").exists()


def test_config_cannot_name_code_outside_of_its_folder(folder: Path):
    (folder / "carob.toml").write_text('[metrics.x]\ncode = "../tone.py:tone"\n', "utf-8")
    with pytest.raises(CarobError, match="outside of the folder"):
        run()


def test_code_that_the_run_does_not_use_is_not_loaded(folder: Path):
    config = '[run]\nmetrics = ["rouge_l"]\n[metrics.x]\ncode = "tone.py:tone"\n'
    (folder / "carob.toml").write_text(config, "utf-8")
    assert [metric["name"] for metric in run()["metrics"]] == ["rouge_l"]


@pytest.mark.usefixtures("folder")
def test_worker_processes_load_the_file():
    program = (
        "import carob\n"
        "run = carob.run(['traces/good.otlp.jsonl',"
        " 'traces/regressed.otlp.jsonl'],"
        " golden='support.evalset.json', metrics='tone.py:tone', jobs=2)\n"
        "print({score.status for case in run.cases for score in case.scores})\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "passed" in result.stdout or "failed" in result.stdout
    assert "error" not in result.stdout


def test_file_named_as_a_standard_module_does_not_replace_it(folder: Path):
    import statistics

    (folder / "statistics.py").write_text(TONE, "utf-8")
    assert load_metric("statistics.py", "tone").name == "tone"
    assert sys.modules["statistics"] is statistics
    sys.path.remove(str(folder))
