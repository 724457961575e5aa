"""The command line, Python and pytest make the same run from the same inputs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import carob
from carob.api import calibration
from carob.api.history import find_run
from carob.schema import Run

pytest_plugins = ["pytester"]
# Calibration imports these. `pytester` would unload them after a test, and they cannot be loaded
# twice in a process.
pytest.importorskip("numpy")
pytest.importorskip("scipy.special")

CLI = [sys.executable, "-c", "from carob.cli import main; main()"]
GOLDEN = "demo/support.evalset.json"
METRIC = "response_match_score"
ALL = ["demo/traces/good.otlp.jsonl", "demo/traces/regressed.otlp.jsonl"]


def by_command_line(golden: str, traces: list[str], *, jobs: int = 1) -> Run:
    args = ["run", *traces, "-g", golden, "-m", METRIC, "--jobs", str(jobs)]
    subprocess.run([*CLI, *args, "--no-store", "--format", "json", "-o", "cli.json"], check=False)
    return find_run("cli.json")


def by_pytest(shop: pytest.Pytester, golden: str, traces: list[str]) -> Run:
    shop.makepyfile(f"""
        import pytest

        @pytest.mark.golden({golden!r}, traces={traces!r}, metrics={METRIC!r})
        def test_case(): ...
    """)
    shop.runpytest_subprocess("-q", "--carob-run", "pytest.json")
    return find_run("pytest.json")


@pytest.fixture(autouse=True)
def _here(shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.chdir(shop.path)


def test_every_door_makes_the_same_run(shop: pytest.Pytester):
    python = carob.run(ALL, golden=GOLDEN, metrics=[METRIC])
    assert by_command_line(GOLDEN, ALL) == python
    assert by_command_line(GOLDEN, ALL, jobs=2) == python
    assert by_pytest(shop, GOLDEN, ALL) == python
    assert {case.status for case in python.cases} >= {"passed", "failed"}


@pytest.fixture
def lone(shop: pytest.Pytester) -> tuple[str, list[str]]:
    """A golden file with one case and a file with one trace that begins with another message."""
    carob.save(
        carob.Dataset(name="lone", cases=[carob.Case.of("Open?", "Yes.", id="a")]),
        "lone.json",
        format="questions",
    )
    chat = '{"messages": [{"role": "user", "content": "Hello?"}, %s]}'
    Path("lone.jsonl").write_text(chat % '{"role": "assistant", "content": "Yes."}' + "\n")
    return "lone.json", ["lone.jsonl"]


def test_every_door_pairs_the_only_case_with_the_only_trace(
    shop: pytest.Pytester, lone: tuple[str, list[str]]
):
    golden, traces = lone
    python = carob.run(traces, golden=golden, metrics=[METRIC])
    assert [case.paired_by for case in python.cases] == ["the only case and the only trace"]
    assert by_command_line(golden, traces) == python
    assert by_pytest(shop, golden, traces) == python
    Path("labels.csv").write_text("case,label\na,pass\n")
    made = calibration.calibrate("labels.csv", traces=traces, golden=golden, metrics=[METRIC])
    assert made.agreement.share.value == 1.0


def test_two_traces_without_a_case_are_paired_by_no_door(
    shop: pytest.Pytester, lone: tuple[str, list[str]]
):
    golden, (trace,) = lone
    shutil.copy(trace, "second.jsonl")
    text = Path("second.jsonl").read_text().replace("Hello?", "Anybody there?")
    Path("second.jsonl").write_text(text)
    traces = [trace, "second.jsonl"]
    python = carob.run(traces, golden=golden, metrics=[METRIC])
    assert len(python.unmatched) == 2
    assert by_command_line(golden, traces) == python
    assert by_pytest(shop, golden, traces) == python
    Path("labels.csv").write_text("case,label\na,pass\n")
    with pytest.raises(carob.CarobError, match="no trace belongs to a labeled case"):
        calibration.calibrate("labels.csv", traces=traces, golden=golden, metrics=[METRIC])


SELECTIONS = [
    (["--tag", "returns"], {"tags": ["returns"]}),
    (["--where", "len(turns) > 1", "--limit", "1"], {"where": "len(turns) > 1", "limit": 1}),
    (
        ["--case", "order_status", "--case", "return_helmet"],
        {"cases": ["order_status", "return_helmet"]},
    ),
    (
        ["--limit", "3", "--threshold", "factuality=0.2"],
        {"limit": 3, "thresholds": {"factuality": 0.2}},
    ),
]


def document(name: str) -> object:
    """The JSON of a run: parameters that are tuples in Python are lists there."""
    return msgspec.json.decode(Path(name).read_bytes())


@pytest.mark.parametrize(("options", "arguments"), SELECTIONS)
def test_every_door_selects_the_same_cases_and_metrics(
    shop: pytest.Pytester, options: list[str], arguments: dict[str, Any]
):
    golden = "demo/support_golden.json"
    args = ["run", *ALL, "-g", golden, *options, "--no-store", "--format", "json", "-o", "cli.json"]
    subprocess.run([*CLI, *args], check=False, capture_output=True)
    shop.makepyfile(f"""
        import pytest

        @pytest.mark.golden({golden!r}, traces={ALL!r}, **{arguments!r})
        def test_case(): ...
    """)
    shop.runpytest_subprocess("-q", "--carob-run", "pytest.json")
    python = carob.run(ALL, golden=golden, **arguments)
    assert (
        document("cli.json")
        == document("pytest.json")
        == msgspec.json.decode(msgspec.json.encode(python))
    )
    assert 0 < len({result.case for result in python.cases}) < 8
    assert "tool_usage_accuracy" in [metric.name for metric in python.metrics]


@pytest.mark.parametrize("golden", ["support.explain.jsonl", "support.simulation.csv"])
def test_every_door_chooses_the_same_metrics_for_recorded_answers(
    shop: pytest.Pytester, golden: str
):
    golden = f"demo/{golden}"
    args = ["run", "-g", golden, "--no-store", "--format", "json", "-o", "cli.json"]
    subprocess.run([*CLI, *args], check=False, capture_output=True)
    shop.makepyfile(f"""
        import pytest

        @pytest.mark.golden({golden!r})
        def test_case(): ...
    """)
    shop.runpytest_subprocess("-q", "--carob-run", "pytest.json")
    python = msgspec.json.decode(msgspec.json.encode(carob.run(golden=golden)))
    assert document("cli.json") == document("pytest.json") == python
