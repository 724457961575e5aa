from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from carob.report.comment import comment
from carob.report.html.page import page
from carob.report.judge_cost import dollars, estimate_text
from carob.report.run import text
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


def test_text_says_what_judges_took_and_why_they_were_stopped(judged: Run):
    lines = text(judged).splitlines()
    assert lines[1] == "not everything was judged: the limit of 33 calls was reached"
    assert lines[-2].split() == [
        "judge",
        "answers",
        "cached",
        "calls",
        *["tokens", "in", "tokens", "out", "cost"],
    ]
    assert lines[-1].split() == ["Relevance", "50", "20", "33", "41,200", "3,100", "$0.012"]


def test_a_run_without_judges_says_nothing_of_them(run: Run):
    assert "cached" not in text(run)
    assert "cached" not in comment(run)
    assert "What judges took" not in page(run)


def test_a_comment_has_the_same_numbers(judged: Run):
    made = comment(judged)
    assert "Not everything was judged: the limit of 33 calls was reached." in made
    assert "| Relevance | 50 | 20 | 33 | 41,200 | 3,100 | $0.012 |" in made


def test_a_page_names_the_model(judged: Run):
    made = page(judged)
    assert "openai:gpt-5-mini" in made
    assert "What judges took" in made
    assert "the limit of 33 calls was reached" in made


def test_an_estimate_says_the_most_that_it_may_cost():
    made = estimate_text(CostEstimate({"Relevance": SPENT, "Empathy": SPENT}))
    assert made.splitlines()[0] == (
        "66 calls, cost at most $0.025, without retries; nobody was asked"
    )
    assert len(made.splitlines()) == 5


def test_an_estimate_of_which_a_part_is_not_known_is_not_known():
    unknown = msgspec.structs.replace(SPENT, cost=None)
    made = estimate_text(CostEstimate({"Relevance": SPENT, "Empathy": unknown}))
    assert "cost at most not known" in made.splitlines()[0]


def test_without_judges_there_is_nothing_to_estimate():
    assert estimate_text(CostEstimate({})) == "no judge would be asked\n"


@pytest.mark.parametrize(
    ("cost", "told"),
    [(0.0, "$0.00"), (0.00042, "$0.00042"), (1.234, "$1.23"), (4321.5, "$4,321.50")],
)
def test_small_amounts_are_not_rounded_to_nothing(cost: float, told: str):
    assert dollars(cost) == told
