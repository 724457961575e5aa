from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import carob as library
from carob.api.golden.regression_case import FailedCase, find_divergence
from carob.api.regressions import capture_failed
from carob.cli import carob
from carob.schema import Case, CaseResult, CaseScore, Dataset, ToolCall, Trace, Turn

AGENT = """
def answer(message: str) -> str:
    return "Roses need sun." if "roses" in message else "I do not know."
"""
PRUNE = Case(
    id="prune",
    turns=(
        Turn(user="Where do roses grow?", response="Roses need sun."),
        Turn(user="When do I cut them? Write to ada@flowers.net", response="In early spring."),
        Turn(user="And how far?", response="To three buds."),
    ),
    state={"done": True},
)
SOIL = Case.of("How much compost?", "About 300 litres.", id="soil")


def call(*args: str) -> Result:
    return CliRunner().invoke(carob, args, catch_exceptions=True)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    library.save(Dataset(name="garden", cases=(PRUNE, SOIL)), "golden.json", format="adk")
    target = ("--target", "python:agent.py:answer")
    call("run", *target, "--golden", "golden.json", "-m", "rouge_l")
    return tmp_path


def test_a_failure_is_cut_after_the_turn_that_went_wrong(run: Path):
    result = call("capture", "--failed", "latest", "new.json", "--golden", "golden.json")
    assert result.exit_code == 0, result.output
    (case,) = library.load("new.json").cases
    assert [turn.response for turn in case.turns] == ["Roses need sun.", "In early spring."]
    assert case.state is None
    assert case.metadata["parent"] == "prune"
    assert case.metadata["review_status"] == "draft"
    assert str(case.metadata["run"]).startswith("run-")
    assert str(case.metadata["divergence"]).startswith("turn 2: ")


def test_personal_data_is_masked(run: Path):
    call("capture", "--failed", "latest", "new.json", "--golden", "golden.json")
    assert b"ada@" not in Path("new.json").read_bytes()
    assert b"<email-1>" in Path("new.json").read_bytes()


def test_a_failure_that_the_dataset_has_already_is_a_duplicate(run: Path):
    result = call("capture", "--failed", "latest", "new.json", "--golden", "golden.json")
    assert "1 duplicate trace skipped" in result.output
    again = call("capture", "--failed", "latest", "new.json", "--golden", "golden.json", "--append")
    assert "0 cases added" in again.output


def test_progress_counts_the_failures_that_were_read(run: Path):
    steps: list[tuple[int, int]] = []
    capture_failed(
        "latest",
        "new.json",
        golden="golden.json",
        progress=lambda done, total: steps.append((done, total)),
    )
    assert steps
    assert steps == [(number, len(steps)) for number in range(1, len(steps) + 1)]


def test_an_existing_file_is_not_overwritten(run: Path):
    result = call("capture", "--failed", "latest", "golden.json", "--golden", "golden.json")
    assert "already exists" in str(result.exception)


def test_filters_do_not_apply_to_a_run(run: Path):
    result = call("capture", "--failed", "latest", "new.json", "--agent", "shop")
    assert result.exit_code == 2


def failure(golden: Case | None, trace: Trace | None, *scores: CaseScore) -> FailedCase:
    return FailedCase(CaseResult("c", "t", "failed", scores), golden, trace)


def test_the_earliest_divergence_is_a_call_that_is_missing():
    golden = Case(
        id="c",
        turns=(
            Turn(user="a", tool_calls=()),
            Turn(user="b", tool_calls=(ToolCall(name="find", args={}),)),
            Turn(user="c", tool_calls=(ToolCall(name="send", args={}),)),
        ),
    )
    trace = Trace(id="t", turns=tuple(Turn(user=user, tool_calls=()) for user in "abc"))
    assert find_divergence(failure(golden, trace)) == (1, "missing call of find")


def test_the_score_of_an_earlier_turn_comes_first():
    golden = Case(id="c", turns=(Turn(user="a"), Turn(user="b")))
    score = CaseScore("rouge_l", "failed", 0.4, 0.5, turns=(0.2, 0.6))
    assert find_divergence(failure(golden, None, score)) == (0, "rouge_l 0.2 < 0.5")
