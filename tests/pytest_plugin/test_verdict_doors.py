"""Every door gives the same verdict on the same data, with the exit code that belongs to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import carob
from carob.errors import UsageError

pytest_plugins = ["pytester"]

CLI = [sys.executable, "-c", "from carob.cli import main; main()"]
QUESTION, ANSWER = "Are you open on Monday?", "No, we are closed on Monday."
CASE = carob.Case.of(QUESTION, ANSWER, id="monday")
PROFILE = """
name = "short"
scale = [0, 1]
composite = 0.5
[metrics.rouge_l]
threshold = 0.5
weight = 1
"""


class Scenario(NamedTuple):
    """What is asked, and what every door must say."""

    metrics: list[str]
    answer: str
    verdict: str
    run: int
    """Exit code of `run`, and of `pytest` unless it skips."""
    gate: int
    thresholds: dict[str, float] = {}
    profile: str | None = None
    headline: str = ""


SCENARIOS = {
    "passed": Scenario(["response_match_score"], ANSWER, "passed", 0, 0, headline="1 passed of 1"),
    "informational metrics change nothing": Scenario(
        ["response_match_score", "latency"], ANSWER, "passed", 0, 0, headline="1 passed of 1"
    ),
    "failed": Scenario(["response_match_score"], "Bells.", "failed", 1, 1, headline="1 failed"),
    "not applicable": Scenario(
        ["state_management_fidelity", "hallucination"],
        ANSWER,
        "inconclusive",
        1,
        1,
        headline="1 not applicable of 1",
    ),
    "one of two is not applicable": Scenario(
        ["state_management_fidelity", "response_match_score"], ANSWER, "passed", 0, 0
    ),
    "could not be scored": Scenario(
        ["response_match_score", "latency"],
        ANSWER,
        "inconclusive",
        1,
        1,
        thresholds={"latency": 5},
        headline="1 not scored of 1",
    ),
    "informational": Scenario(
        ["hallucination", "latency"], ANSWER, "informational", 0, 2, headline="nothing was decided"
    ),
    "a profile decides": Scenario(["rouge_l"], ANSWER, "passed", 0, 0, profile="short.toml"),
    "a profile decides nothing": Scenario(
        ["latency"], ANSWER, "inconclusive", 1, 1, profile="short.toml"
    ),
    "a judge without a model": Scenario(["TaskAdherence", "latency"], ANSWER, "error", 2, 2),
}
every = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@pytest.fixture(autouse=True)
def _here(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pytester.path)
    carob.save(carob.Dataset(name="shop", cases=[CASE]), "shop.json", format="questions")
    Path("short.toml").write_text(PROFILE)


def write_trace(answer: str) -> None:
    messages = [("user", QUESTION), ("assistant", answer)]
    chat = {"messages": [{"role": role, "content": text} for role, text in messages]}
    Path("traces.jsonl").write_text(json.dumps(chat) + "\n")


def command(*args: str) -> tuple[int, str]:
    done = subprocess.run([*CLI, *args], check=False, capture_output=True, text=True)
    return done.returncode, done.stdout


def run_options(scenario: Scenario) -> list[str]:
    options = ["traces.jsonl", "-g", "shop.json", "--no-store"]
    options += [part for name in scenario.metrics for part in ("-m", name)]
    options += [f"--threshold={name}={value}" for name, value in scenario.thresholds.items()]
    return [*options, *(["--profile", scenario.profile] if scenario.profile else [])]


@every
def test_command_line_and_python_agree(scenario: Scenario):
    write_trace(scenario.answer)
    options = run_options(scenario)
    assert command("run", *options, "--format", "json", "-o", "run.json")[0] == scenario.run
    if scenario.verdict == "error":
        assert not Path("run.json").exists()
        with pytest.raises(UsageError, match="no judge is configured"):
            carob.run("traces.jsonl", golden="shop.json", metrics=scenario.metrics)
        return
    written = json.loads(Path("run.json").read_text())
    python = carob.run(
        "traces.jsonl",
        golden="shop.json",
        metrics=scenario.metrics,
        thresholds=scenario.thresholds,
        profile=scenario.profile,
    )
    assert (written["verdict"], written["id"]) == (scenario.verdict, python.id)
    assert python.verdict == scenario.verdict
    first = command("report", "run.json")[1].splitlines()[0]
    assert first.startswith(f"{scenario.verdict}: shop: {scenario.headline}")
    assert command("gate", "run.json", "--min-pass-rate", "1")[0] == scenario.gate
    compared = json.loads(command("compare", "run.json", "run.json", "--format", "json")[1])
    if scenario.verdict in ("inconclusive", "informational"):
        assert compared["verdict"] == "inconclusive"


@every
def test_pytest_and_check_agree(pytester: pytest.Pytester, scenario: Scenario):
    write_trace(scenario.answer)
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.golden(
            "shop.json",
            traces="traces.jsonl",
            metrics={scenario.metrics!r},
            thresholds={scenario.thresholds!r},
            profile={scenario.profile!r},
        )
        def test_case(): ...
    """)
    result = pytester.runpytest_subprocess("-q", "--carob-run", "run.json")
    assert result.ret == scenario.run
    if scenario.verdict != "error":
        assert json.loads(Path("run.json").read_text())["verdict"] == scenario.verdict
    result.assert_outcomes(
        passed=scenario.verdict == "passed",
        skipped=scenario.verdict == "informational",
        failed=scenario.verdict in ("failed", "inconclusive"),
        errors=scenario.verdict == "error",
    )

    def check() -> bool:
        scores = carob.check(
            CASE,
            scenario.answer,
            metrics=scenario.metrics,
            thresholds=scenario.thresholds,
            profile=scenario.profile,
        )
        return scores.passed

    if scenario.verdict == "passed":
        assert check()
    elif scenario.verdict in ("failed", "inconclusive"):
        with pytest.raises(AssertionError):
            check()
    else:  # nothing to check is not a pass, as in `gate`
        with pytest.raises(UsageError):
            check()


@pytest.mark.parametrize(
    ("scores", "code", "passed", "reason"),
    [
        ({"rouge_l": 1.0}, 0, True, ""),
        ({"rouge_l": 1.0, "latency": None}, 0, True, ""),
        (
            {"rouge_l": 0.25},
            1,
            False,
            "Below threshold: rouge_l=0.25 (<0.50); Composite=0.25 (<0.50)",
        ),
        ({"rouge_l": None}, 1, False, "No metric of the profile was scored"),
        ({}, 1, False, "No metric of the profile was scored"),
    ],
)
def test_policy_decides_as_a_run_does(
    scores: dict[str, float | None], code: int, passed: bool, reason: str
):
    Path("scores.jsonl").write_text(json.dumps({"case": "monday", "scores": scores}) + "\n")
    options = ("scores.jsonl", "--profile", "short.toml", "--format", "json")
    exit_code, output = command("policy", "apply", *options)
    (case,) = json.loads(output)["cases"]
    assert (exit_code, case["passed"], case["reason"]) == (code, passed, reason)


def test_test_that_asserts_informational_scores_itself_passes(pytester: pytest.Pytester):
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.golden("shop.json", metrics="hallucination")
        def test_case(golden):
            assert golden.score({ANSWER!r})["hallucination"] == 1
    """)
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_case_without_a_trace_is_listed_although_nothing_is_decided():
    cases = [CASE, carob.Case.of("Do you sell bells?", "Yes.", id="bells")]
    carob.save(carob.Dataset(name="shop", cases=cases), "both.json", format="questions")
    write_trace(ANSWER)
    options = ("-g", "both.json", "-m", "hallucination", "--no-store")
    code, output = command("run", "traces.jsonl", *options)
    assert (code, output.split(" (")[0]) == (
        0,
        "informational: shop: nothing was decided, 2 cases",
    )
    assert "info bells  (no trace belongs to it)" in output
    assert command("run", "traces.jsonl", *options, "--threshold", "hallucination=0.5")[0] == 1
