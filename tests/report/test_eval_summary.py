from __future__ import annotations

import json
from collections.abc import Callable

from carob.report.eval_summary import (
    format_agents,
    format_eval_summary,
    format_questions_and_answers,
)
from carob.report.forms import ReportInputs
from carob.schema import CaseCounts, CaseResult, CaseScore, Exchange, MetricInfo, Run
from carob.schema.run import SummaryGroup

MakeRun = Callable[..., Run]
HELPFUL = MetricInfo(
    name="helpful",
    version=1,
    meaning="How helpful the answer is.",
    description="How helpful the answer is.",
    needs=(),
    scale=(1, 5),
    better="higher",
    threshold=None,
    judged=True,
    params={},
    packages=(),
)


def case(name: str = "q1", trace: str = "t1", value: float | None = 0.5) -> CaseResult:
    scores = (
        CaseScore(metric="rouge_l", status="failed", value=value, reason="few words match"),
        CaseScore(metric="helpful", status="passed", value=4.0, reason="It helps."),
    )
    turn = Exchange(user="Where is it?", expected="There.", actual="Here.\n```\n# not a title")
    return CaseResult(case=name, trace=trace, status="failed", scores=scores, exchanges=(turn,))


def test_judged_metrics_are_listed_separately(make_run: MakeRun):
    inputs = ReportInputs(make_run(case()), load_metrics=lambda: [HELPFUL])
    summary = json.loads("".join(format_eval_summary(inputs)))
    assert summary["overall_summary"] == {
        "deterministic_metrics": {"rouge_l": 0.5},
        "llm_based_metrics": {"helpful": 0.5},
    }
    assert summary["per_question_summary"] == [
        {
            "question_id": "q1",
            "runs": 1,
            "passed": 0,
            "deterministic_metrics": {"rouge_l": 0.5},
            "llm_based_metrics": {"helpful": {"score": 4.0, "explanation": "It helps."}},
        }
    ]


def test_attempts_are_averaged_and_unscored_ones_are_not_zero(make_run: MakeRun):
    run = make_run(case(value=0.5), case(trace="t2", value=1.0), case(trace="t3", value=None))
    (question,) = json.loads("".join(format_eval_summary(ReportInputs(run))))[
        "per_question_summary"
    ]
    assert (question["runs"], question["deterministic_metrics"]["rouge_l"]) == (3, 0.75)


def test_unscored_question_has_no_number(make_run: MakeRun):
    (question,) = json.loads(
        "".join(format_eval_summary(ReportInputs(make_run(case(value=None)))))
    )["per_question_summary"]
    assert question["deterministic_metrics"]["rouge_l"] is None


def test_each_agent_has_a_pass_rate_and_averages(make_run: MakeRun):
    counts = CaseCounts(total=4, passed=3, failed=1)
    groups = [
        SummaryGroup(
            by="agent", value="returns", cases=counts, means={"rouge_l": 0.5}, composite=3.5
        ),
        SummaryGroup(by="tag", value="hard", cases=counts, means={}),
    ]
    assert json.loads(format_agents(ReportInputs(make_run(case(), groups=groups))))["agents"] == [
        {
            "agent": "returns",
            "cases": 4,
            "passed": 3,
            "pass_rate": 0.75,
            "composite_average": 3.5,
            "metric_averages": {"rouge_l": 0.5},
        }
    ]


def test_log_contains_question_answer_and_expectation(make_run: MakeRun):
    log = "".join(format_questions_and_answers(ReportInputs(make_run(case()))))
    assert "## 1. q1: failed\n\n**Question**\n\n```\nWhere is it?\n```\n\n**Answer**" in log
    assert "**Expected**\n\n```\nThere.\n```" in log
    assert "- rouge\\_l 0.5 (failed): few words match" in log


def test_answer_cannot_close_its_code_block(make_run: MakeRun):
    log = "".join(format_questions_and_answers(ReportInputs(make_run(case()))))
    assert "````\nHere.\n```\n# not a title\n````" in log


def test_log_says_that_passed_conversations_are_not_stored(make_run: MakeRun):
    log = "".join(
        format_questions_and_answers(
            ReportInputs(make_run(CaseResult(case="q2", trace="t", status="passed")))
        )
    )
    assert "## 1. q2: passed\n\n_The conversation is stored with the run only for" in log
