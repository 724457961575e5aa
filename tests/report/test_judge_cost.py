from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from carob.report.forms import ReportInputs, format_report
from carob.report.judge_cost import dollars, format_estimate
from carob.schema import CaseResult, CaseScore, CostEstimate, JudgeSpec, JudgeUsage, Run

MakeRun = Callable[..., Run]
SPENT = JudgeUsage(
    answers=50, cached=20, calls=33, input_tokens=41_200, output_tokens=3_100, cost=0.0123
)


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    score = CaseScore(
        metric="Relevance", status="failed", value=2.0, threshold=3.6, reason="It is off the point."
    )
    return make_run(CaseResult(case="late", trace="t", status="failed", scores=(score,)))


@pytest.fixture
def judged(run: Run) -> Run:
    judge = JudgeSpec(model="openai:gpt-5-mini", params={}, prompt="p", rubric="r")
    use = msgspec.structs.replace(run.metrics[0], judge=judge)
    return msgspec.structs.replace(
        run,
        metrics=(use, *run.metrics[1:]),
        spending={"Relevance": SPENT},
        stopped="the limit of 33 calls was reached",
        verdict="inconclusive",
    )


def test_text_shows_judge_costs_and_why_judging_stopped(judged: Run):
    lines = format_report("text", ReportInputs(judged)).splitlines()
    assert lines[1] == "judging stopped early: the limit of 33 calls was reached"
    assert lines[-2].split() == [
        "judge",
        "answers",
        "cached",
        "calls",
        *["tokens", "in", "tokens", "out", "cost"],
    ]
    assert lines[-1].split() == ["Relevance", "50", "20", "33", "41,200", "3,100", "$0.012"]


def test_run_without_judges_shows_no_costs(run: Run):
    assert "cached" not in format_report("text", ReportInputs(run))
    assert "cached" not in format_report("md", ReportInputs(run))
    assert "Judge costs" not in format_report("html", ReportInputs(run))


def test_comment_has_the_same_numbers(judged: Run):
    text = format_report("md", ReportInputs(judged))
    assert "- Judging stopped early: the limit of 33 calls was reached\n" in text
    assert "| Relevance | 50 | 20 | 33 | 41,200 | 3,100 | $0.012 |" in text


def test_page_names_the_model(judged: Run):
    text = format_report("html", ReportInputs(judged))
    assert "openai:gpt-5-mini" in text
    assert "Judge costs" in text
    assert "the limit of 33 calls was reached" in text


def test_estimate_shows_the_maximum_cost():
    text = format_estimate(CostEstimate({"Relevance": SPENT, "Empathy": SPENT}))
    assert text.splitlines()[0] == (
        "dry run: 66 calls, maximum cost $0.025 (without retries); no calls made"
    )
    assert len(text.splitlines()) == 5


def test_estimate_with_an_unknown_price_is_unknown():
    unknown = msgspec.structs.replace(SPENT, cost=None)
    text = format_estimate(CostEstimate({"Relevance": SPENT, "Empathy": unknown}))
    assert "maximum cost unknown" in text.splitlines()[0]


def test_without_judges_there_is_nothing_to_estimate():
    assert format_estimate(CostEstimate({})) == "no judge calls needed\n"


@pytest.mark.parametrize(
    ("cost", "expected"),
    [(0.0, "$0.00"), (0.00042, "$0.00042"), (1.234, "$1.23"), (4321.5, "$4,321.50")],
)
def test_small_amounts_are_not_rounded_to_nothing(cost: float, expected: str):
    assert dollars(cost) == expected
