"""Judges under scoring profiles: their names, and their scales."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from carob import plugins
from carob.metrics import Answer, Ledger, Question, build
from carob.metrics.judge import T
from carob.policy.apply import EXPLAIN_SCALES
from carob.policy.profile import load_profile
from carob.runner.pairing import Pair
from carob.runner.plan import Plan, PlannedMetric
from carob.schema import Case, CaseResult, Failed, Json, ToolCall, Trace, Turn, Unscored
from tests.judges.rubrics.scripted_ask import ScriptedAsk, score

STRICT = load_profile("assessment_strict")
CASE = Case(
    id="c",
    turns=(Turn(user="Plan my week"),),
    goal="A plan of five days",
    metrics=tuple(f"{name}Explain" for name in EXPLAIN_SCALES),
    profile="assessment_strict",
)
TRACE = Trace(
    id="t",
    turns=(
        Turn(user="Plan my week", response="Day 1: rest.", tool_calls=(ToolCall(name="plan"),)),
    ),
)


@dataclass
class Marks:
    """Gives every question of a scale the same mark."""

    marks: dict[int, int]
    model: str = "scripted:marks"
    params: dict[str, Json] = field(default_factory=dict[str, Json])

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        high = 10 if "from 1 to 10" in question.instructions else 5
        return await ScriptedAsk(lambda _: score(self.marks[high]))(question)

    async def close(self) -> None:
        pass


def result(case: Case, marks: dict[int, int]) -> CaseResult:
    metrics = [build(name, {}, plugins.metrics()) for name in EXPLAIN_SCALES]
    planned = tuple(
        PlannedMetric(metric=metric, threshold=metric.threshold, client=Marks(marks))
        for metric in metrics
    )
    plan = Plan(metrics=planned, profiles={"assessment_strict": STRICT})
    return asyncio.run(plan.score_with_judges(Pair(case, TRACE, "the same row"))).result


def test_scales_match_the_policy():
    metrics = plugins.metrics()
    assert {name: metrics[name].scale for name in EXPLAIN_SCALES} == EXPLAIN_SCALES
    assert {*STRICT.metrics} == {*EXPLAIN_SCALES}


def test_scale_of_ten_is_rescaled_before_it_is_combined():
    judged = result(CASE, {5: 4, 10: 10})
    assert judged.judgement
    # PerceivedIntelligence weighs .12 of 1.00, and its best is 5
    assert judged.judgement.composite == pytest.approx(4 * 0.88 + 5 * 0.12)
    assert judged.status == "passed"
    raw = {score.metric: score.value for score in judged.scores}
    assert raw["PerceivedIntelligence"] == 10.0


def test_default_threshold_of_the_scale_of_ten_matches_the_profiles():
    low, high = plugins.metrics()["PerceivedIntelligence"].scale
    threshold = plugins.metrics()["PerceivedIntelligence"].threshold
    assert threshold is not None
    assert high is not None
    assert (
        1 + (threshold - low) / (high - low) * 4
        == STRICT.metrics["PerceivedIntelligence"].threshold
    )


def test_middle_of_the_scale_of_ten_fails():
    judged = result(CASE, {5: 5, 10: 6})
    assert judged.judgement
    assert judged.judgement.reason == "Below threshold: PerceivedIntelligence=3.22 (<3.50)"


def test_hard_fail_uses_the_judge_names():
    judged = result(CASE, {5: 2, 10: 10})
    assert judged.judgement
    assert judged.judgement.reason.startswith("Hard-fail metrics (<3.00): TaskAdherence=2.00")


def test_only_the_requested_evals_are_judged():
    case = Case(id="c", turns=CASE.turns, metrics=("RelevanceExplain", "Fluency"))
    judged = result(case, {5: 4, 10: 9})
    scored = [score.metric for score in judged.scores if score.status != "unscored"]
    assert scored == ["Relevance", "Fluency"]
    empathy = next(score for score in judged.scores if score.metric == "Empathy")
    assert empathy.reason == "not among the metrics of this case"


def test_judged_and_offline_metrics_with_similar_names_are_distinguished():
    metrics = plugins.metrics()
    for judged, offline in (("Relevance", "relevance"), ("Coherence", "coherence")):
        assert metrics[judged].judged
        assert not metrics[offline].judged
        assert offline in (metrics[judged].__doc__ or "")
        assert not STRICT.weighs(offline)
