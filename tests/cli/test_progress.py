from __future__ import annotations

import shutil
import sys
import time
from contextlib import chdir, suppress
from importlib import resources
from pathlib import Path

import click
import pytest

from carob.cli import carob, progress
from carob.cli.progress import Step, format_duration, progress_line
from carob.schema import Problem


def pretend_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Called in the test: while fixtures are set up, stderr may be another object."""
    monkeypatch.setattr(progress, "DELAY", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")


def test_step_shows_a_bar_the_rate_and_the_time_left():
    step = Step("scoring", 1, "", first=0, started=0.0)
    bar = "━━━━━┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄"
    assert step.describe(500, 2000, 10.0) == f"scoring {bar} 500 of 2,000, 50/s, 30 s left"


def test_rate_of_a_resumed_step_counts_only_new_work():
    step = Step("reading", 10**6, " MB", first=50 * 10**6, started=0.0)
    assert step.describe(100 * 10**6, 200 * 10**6, 10.0).endswith(
        "100 of 200 MB, 5 MB/s, 20 s left"
    )


def test_durations_are_short():
    durations = [format_duration(seconds) for seconds in (3.4, 200, 7500)]
    assert durations == ["3 s", "3 min 20 s", "2 h 5 min"]


def test_progress_is_one_line_that_is_cleared_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pretend_terminal(monkeypatch)
    line = progress.ProgressLine("evaluating")
    line.of("scoring")(8, 8)
    line.close()
    line.of("scoring")(8, 8)
    first, shown, cleared = capsys.readouterr().err.split("\r\x1b[K")
    assert (first, cleared) == ("", "")
    assert shown.endswith("8 of 8")


def test_problem_during_progress_gets_its_own_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pretend_terminal(monkeypatch)
    line = progress.ProgressLine("evaluating")
    line.of("scoring")(8, 8)
    line.report(Problem(where="a.json", message="is cut off"))
    printed = click.unstyle(capsys.readouterr().err.replace("\r\x1b[K", "|"))
    assert printed.endswith("8 of 8|error: a.json: is cut off\n")


def test_task_without_numbers_shows_the_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(progress, "DELAY", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_line("comparing"):
        time.sleep(0.1)
    assert "comparing, 0 s" in capsys.readouterr().err


def test_short_work_and_pipes_show_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with progress_line("scoring") as line:
        monkeypatch.setattr(progress, "DELAY", -1)
        line.of("scoring")(3, 8)
    monkeypatch.setattr(progress, "DELAY", 1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress.ProgressLine("scoring").of("scoring")(3, 8)
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's data, two stored runs and a release."""
    folder = tmp_path_factory.mktemp("shop")
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, folder, dirs_exist_ok=True)
    with chdir(folder):
        for release in ("good", "regressed"):
            call("run", f"traces/{release}.otlp.jsonl", "--golden", "support.evalset.json")
        call("release", "support.evalset.json", "--no-lint", "--date", "2026-01-05")
        call("store", "export", "all.jsonl.gz")
    return folder


@pytest.fixture
def shop(stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(stocked, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def call(*args: str) -> None:
    with suppress(SystemExit):  # an agent that failed a case
        carob([*args], standalone_mode=False)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("args", "amount"),
    [
        (["gate", "latest", "--baseline", "latest~1"], "of 9 cases"),
        (["leaderboard", "latest", "latest~1"], "2 of 2 runs"),
        (["versions", "--verify"], "1 of 1 releases"),
        (["store", "prune", "--keep", "1"], "1 of 1 runs"),
        (["store", "import", "all.jsonl.gz", "--store", "other.db"], "of 0 MB"),
        (["report", "latest", "--format", "html", "-o", "report.html"], "writing"),
        (["report", "latest"], "9 of 9 cases"),
        (["synth", "support.evalset.json", "more.json"], "9 of 9 cases"),
        (["review", "support.evalset.json"], "reading"),
    ],
)
def test_long_commands_show_how_much_is_done(
    args: list[str],
    amount: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    pretend_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_INTERVAL", 0)
    capsys.readouterr()
    call(*args)
    shown = capsys.readouterr().err.split("\r\x1b[K")
    assert any({*"━┄"} & {*line} and amount in line for line in shown), shown


def test_second_pass_starts_a_new_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pretend_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_INTERVAL", 0)
    listener = progress.ProgressLine("writing").of("writing")
    for done in (1, 8, 1, 2):
        listener(done, 8)
    assert "-" not in capsys.readouterr().err
