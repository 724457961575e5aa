"""How the outcomes of metrics become the result of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from carob.metrics import Metric, Outcome
from carob.metrics.tools.accuracy import ToolUsage
from carob.policy.profile import HardFail, MetricRequirement, Profile
from carob.runner.pairing import Pair
from carob.runner.plan import Plan, PlannedMetric
from carob.schema import (
    Case,
    CaseResult,
    Exchange,
    Failed,
    MetricSpec,
    ProfileVerdict,
    Score,
    Trace,
    Turn,
    Unscored,
)

CASE = Case(id="c", turns=(Turn(user="Open?", response="Yes."), Turn(user="Until?", response="6")))
TRACE = Trace(id="t", turns=(Turn(user="Open?", response="No."),), mapper="genai@1")


@dataclass(frozen=True, kw_only=True)
class Fixed(Metric):
    """Returns what it was built with."""

    name: ClassVar[str] = "fixed"
    version: ClassVar[int] = 3
    scale: ClassVar[tuple[float, float | None]] = (0.0, 10.0)

    outcome: Outcome

    def score(self, case: Case, trace: Trace) -> Outcome:
        return self.outcome


@dataclass(frozen=True, kw_only=True)
class Slowness(Fixed):
    """The lower, the better."""

    name: ClassVar[str] = "slowness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"


@dataclass(frozen=True, kw_only=True)
class FixedContract(Fixed):
    """Has the name of the metric that profiles may ask to hold."""

    name: ClassVar[str] = "contract"


def plan(*metrics: tuple[Metric, float | None], profile: Profile | None = None) -> Plan:
    planned = tuple(PlannedMetric(metric=metric, threshold=limit) for metric, limit in metrics)
    return Plan(metrics=planned, profile=profile)


def result_of(*metrics: tuple[Metric, float | None], profile: Profile | None = None) -> CaseResult:
    return plan(*metrics, profile=profile).score(Pair(CASE, TRACE, "by case id"))


def value(number: float) -> Metric:
    return Fixed(outcome=Score(value=number))


def profile(*, contract: bool = False, **thresholds: float) -> Profile:
    metrics = {name: MetricRequirement(limit, 1.0) for name, limit in thresholds.items()}
    return Profile("strict", (0.0, 10.0), 5.0, metrics, HardFail(contract=contract))


def test_run_records_what_was_measured_and_how():
    slow = PlannedMetric(metric=Slowness(outcome=Score(value=1.0)), threshold=2.0).to_spec()
    assert (slow.name, slow.version, slow.threshold) == ("slowness", 3, 2.0)
    assert (slow.scale, slow.better) == ((0.0, 10.0), "lower")
    assert isinstance(slow, MetricSpec)
    (spec,) = plan((value(1.0), None)).specs
    assert (spec.better, spec.threshold, spec.judge) == ("higher", None, slow.judge)


def test_run_records_the_parameters_of_a_metric():
    spec = PlannedMetric(metric=ToolUsage(order="any_order"), threshold=None).to_spec()
    assert spec.params["order"] == "any_order"


@pytest.mark.parametrize(
    ("outcome", "threshold", "status"),
    [
        (Score(value=5.0), 5.0, "passed"),
        (Score(value=4.9), 5.0, "failed"),
        (Score(value=4.9), None, "info"),
        (Unscored("nothing recorded"), 5.0, "unscored"),
        (Unscored("no calls expected", not_applicable=True), 5.0, "unscored"),
        (Unscored("nothing recorded"), None, "info"),
        (Failed("ValueError", "boom"), None, "error"),
        (Failed("ValueError", "boom"), 5.0, "error"),
    ],
)
def test_outcome_and_threshold_decide_the_status(
    outcome: Outcome, threshold: float | None, status: str
):
    assert result_of((Fixed(outcome=outcome), threshold)).status == status


def test_lower_values_pass_where_lower_is_better():
    assert result_of((Slowness(outcome=Score(value=2.0)), 2.0)).status == "passed"
    assert result_of((Slowness(outcome=Score(value=2.1)), 2.0)).status == "failed"


def test_result_keeps_everything_that_the_score_states():
    outcome = Score(value=4.0, reason="too short", turns=(4.0, None), details={"words": 2})
    result = result_of((Fixed(outcome=outcome), 5.0))
    (score,) = result.scores
    assert (score.metric, score.value, score.threshold) == ("fixed", 4.0, 5.0)
    assert (score.reason, score.turns, score.details) == ("too short", (4.0, None), {"words": 2})
    assert (result.case, result.trace, result.mapper) == ("c", "t", "genai@1")
    assert (result.paired_by, result.judgement) == ("by case id", None)


def test_reasons_without_a_number_are_kept():
    result = result_of(
        (Fixed(outcome=Failed("ValueError", "boom")), 5.0),
        (Slowness(outcome=Unscored("no timing")), 1.0),
        (FixedContract(outcome=Unscored("no contract", not_applicable=True)), 1.0),
    )
    assert [score.reason for score in result.scores] == [
        "ValueError: boom",
        "no timing",
        "no contract",
    ]
    assert [score.could_not_be_scored for score in result.scores] == [False, True, False]
    assert [score.threshold for score in result.scores] == [5.0, 1.0, 1.0]


def test_turns_are_side_by_side_unless_the_case_passed():
    assert result_of((value(6.0), 5.0)).exchanges == ()
    assert result_of((value(6.0), None)).exchanges == ()
    assert result_of((value(4.0), 5.0)).exchanges == (
        Exchange(user="Open?", expected="Yes.", actual="No."),
        Exchange(user="Until?", expected="6", actual=None),
    )


def test_conversation_that_broke_off_is_an_error_and_never_a_zero():
    broken = Trace(id="t", turns=TRACE.turns, failure=Failed("timeout", "60 s"))
    pair = Pair(CASE, broken, "by case id")
    scored = plan((value(9.0), 5.0), profile=profile(fixed=5.0)).score(pair)
    assert (scored.status, scored.judgement) == ("error", None)
    assert [(score.value, score.reason) for score in scored.scores] == [(None, "timeout: 60 s")]


def test_profile_decides_through_the_metrics_that_it_weighs():
    result = result_of((value(6.0), None), profile=profile(fixed=5.0))
    assert result.status == "passed"
    assert result.judgement == ProfileVerdict("strict", 6.0, passed=True, reason="")
    assert result_of((value(4.0), None), profile=profile(fixed=5.0)).status == "failed"


def test_profile_cannot_decide_without_its_metrics():
    other = result_of((value(6.0), None), profile=profile(slowness=5.0))
    assert (other.status, other.judgement) == ("unscored", None)
    unscored = result_of((Fixed(outcome=Unscored("no data")), None), profile=profile(fixed=5.0))
    assert (unscored.status, unscored.judgement) == ("unscored", None)


def test_metric_without_a_score_withdraws_the_pass_of_the_profile():
    result = result_of(
        (value(6.0), None),
        (Slowness(outcome=Unscored("no timing")), None),
        profile=profile(fixed=5.0, slowness=5.0),
    )
    assert result.judgement == ProfileVerdict(
        "strict", 6.0, passed=False, reason="Not scored: slowness"
    )
    assert result.status == "unscored"


def test_broken_contract_fails_the_case_only_if_the_profile_says_so():
    broken = (FixedContract(outcome=Score(value=0.0)), 1.0)
    strict = result_of((value(6.0), None), broken, profile=profile(contract=True, fixed=5.0))
    assert strict.judgement is not None
    assert (strict.status, strict.judgement.passed) == ("failed", False)
    lenient = result_of((value(6.0), None), broken, profile=profile(fixed=5.0))
    assert lenient.judgement is not None
    assert lenient.judgement.passed
    kept = (FixedContract(outcome=Score(value=1.0)), 1.0)
    assert result_of(kept, profile=profile(contract=True)).judgement is None


def test_case_names_its_profile_unless_there_is_one_for_all():
    named = Case(id="c", profile="lenient")
    lenient, strict = profile(fixed=1.0), profile(fixed=9.0)
    uses = (PlannedMetric(metric=value(5.0), threshold=None),)

    def status(each: Profile | None) -> str:
        made = Plan(metrics=uses, profiles={"lenient": lenient}, profile=each)
        return made.score(Pair(named, TRACE, "")).status

    assert status(None) == "passed"
    assert status(strict) == "failed"


@pytest.mark.parametrize(
    ("threshold", "decides", "status"),
    [
        (5.0, None, "unscored"),
        (None, profile(fixed=5.0), "unscored"),
        (None, None, "info"),
    ],
)
def test_case_without_a_trace_is_unscored_if_anything_was_to_decide(
    threshold: float | None, decides: Profile | None, status: str
):
    assert plan((value(1.0), threshold), profile=decides).status_without_scores(CASE) == status


def test_profile_of_a_case_that_concerns_no_metric_asks_for_no_verdict():
    uses = (PlannedMetric(metric=value(5.0), threshold=None),)
    named = Case(id="c", profile="other")

    def status(other: Profile) -> str:
        return Plan(metrics=uses, profiles={"other": other}).status_without_scores(named)

    assert status(profile(slowness=1.0)) == "info"
    assert status(profile(slowness=1.0, contract=True)) == "info"
    assert status(profile(fixed=1.0)) == "unscored"
