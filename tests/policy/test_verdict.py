from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.errors import UsageError
from carob.policy.profile import MetricRequirement, Profile, load_profile
from carob.policy.verdict import ScaledScore, apply_profile, check_scales, hold_back, score_status
from carob.schema import (
    CaseScore,
    Failed,
    MetricSpec,
    ProfileVerdict,
    Score,
    Status,
    Unscored,
)

PREP = load_profile("prep_default")


def scored(**values: float) -> dict[str, ScaledScore]:
    return {name: ScaledScore(value, (1, 5)) for name, value in values.items()}


def everything(value: float) -> dict[str, ScaledScore]:
    return scored(**dict.fromkeys(PREP.metrics, value))


def test_good_scores_pass_without_a_reason():
    verdict = apply_profile(PREP, everything(4.0))
    assert verdict == ProfileVerdict(profile="prep_default", composite=4.0, passed=True, reason="")


def test_reasons_have_a_fixed_order_and_wording():
    scores = scored(TaskAdherence=1, IntentResolution=2.5, Relevance=3, Fluency=3.5, Empathy=5)
    assert apply_profile(PREP, scores).reason == (
        "Hard-fail metrics (<3.00): TaskAdherence=1.00, IntentResolution=2.50; "
        "Below threshold: Relevance=3.00 (<3.60), Fluency=3.50 (<3.70); "
        "Composite=2.50 (<3.65)"
    )


def test_hard_failed_metric_is_reported_once():
    verdict = apply_profile(PREP, everything(4.0) | scored(ToolCallAccuracy=2.99))
    assert verdict.reason == "Hard-fail metrics (<3.00): ToolCallAccuracy=2.99"
    assert not verdict.passed


def test_score_at_the_limit_of_a_hard_fail_does_not_hard_fail():
    verdict = apply_profile(PREP, everything(4.0) | scored(ToolCallAccuracy=3.0))
    assert verdict.reason == "Below threshold: ToolCallAccuracy=3.00 (<3.50)"


def test_composite_uses_only_metrics_with_a_score():
    verdict = apply_profile(PREP, scored(TaskAdherence=4, Empathy=5, Charm=1))
    assert verdict.composite == pytest.approx((4 * 0.20 + 5 * 0.05) / 0.25)
    assert verdict.passed


def test_thresholds_are_reached_at_their_own_value():
    scores = scored(**{name: demand.threshold for name, demand in PREP.metrics.items()})
    assert apply_profile(PREP, scores).reason == "Composite=3.60 (<3.65)"


def test_composite_is_computed_with_exact_decimals():
    demands = dict.fromkeys("abc", MetricRequirement(threshold=1, weight=0.1))
    profile = Profile(name="p", scale=(1, 5), composite=3.3, metrics=demands)
    assert (3.3 * 0.1 + 3.3 * 0.1 + 3.3 * 0.1) / (0.1 + 0.1 + 0.1) < 3.3
    verdict = apply_profile(profile, scored(a=3.3, b=3.3, c=3.3))
    assert verdict == ProfileVerdict(profile="p", composite=3.3, passed=True, reason="")


def test_thirds_reach_the_composite_that_is_their_mean():
    demands = dict.fromkeys("ab", MetricRequirement(threshold=0, weight=1))
    profile = Profile(name="p", scale=(0, 1), composite=0.5, metrics=demands)
    assert apply_profile(profile, _shares(a=1 / 3, b=2 / 3)).passed
    short = apply_profile(profile, _shares(a=1 / 3, b=0.666))
    assert (short.passed, short.reason) == (False, "Composite=0.50 (<0.50)")


def _shares(**values: float) -> dict[str, ScaledScore]:
    return {name: ScaledScore(value, (0, 1)) for name, value in values.items()}


def test_case_without_scores_has_no_composite_and_does_not_pass():
    verdict = apply_profile(PREP, scored(Charm=5))
    assert (verdict.composite, verdict.passed) == (None, False)
    assert verdict.reason == "No metric of the profile was scored"


def test_violated_contract_is_a_hard_fail_if_the_profile_sets_it():
    assert apply_profile(PREP, everything(5), contract_broken=True).reason == "Contract broken"
    lenient = Profile(name="p", scale=(1, 5), composite=3, metrics=PREP.metrics)
    assert apply_profile(lenient, everything(5), contract_broken=True).passed


def test_scores_are_converted_to_the_scale_of_the_profile():
    scores = {"PerceivedIntelligence": ScaledScore(5.5, (1, 10))}
    assert apply_profile(PREP, scores).reason == (
        "Below threshold: PerceivedIntelligence=3.00 (<3.50); Composite=3.00 (<3.65)"
    )
    assert apply_profile(PREP, scores, raw=True).composite == 5.5


def test_either_name_of_an_eval_counts_but_not_both():
    assert apply_profile(PREP, scored(RelevanceExplain=4)) == apply_profile(
        PREP, scored(Relevance=4)
    )
    with pytest.raises(UsageError, match="metric 'Relevance' has two scores"):
        apply_profile(PREP, scored(RelevanceExplain=4, Relevance=5))


def test_reasons_keep_the_name_under_which_a_score_was_given():
    verdict = apply_profile(PREP, scored(EmpathyExplain=2, TaskAdherenceExplain=2))
    assert verdict.reason == (
        "Hard-fail metrics (<3.00): TaskAdherenceExplain=2.00; "
        "Below threshold: EmpathyExplain=2.00 (<3.20); Composite=2.00 (<3.65)"
    )


@given(st.permutations(list(PREP.metrics)), st.data())
def test_order_of_scores_does_not_matter(names: list[str], data: st.DataObject):
    values = {name: data.draw(st.floats(1, 5)) for name in PREP.metrics}
    shuffled = {name: values[name] for name in names}
    assert apply_profile(PREP, scored(**shuffled)) == apply_profile(PREP, scored(**values))


@given(st.dictionaries(st.sampled_from(list(PREP.metrics)), st.floats(1, 5), min_size=1))
def test_composite_lies_between_the_lowest_and_the_highest_score(values: dict[str, float]):
    composite = apply_profile(PREP, scored(**values)).composite
    assert composite is not None
    assert min(values.values()) <= composite <= max(values.values())


def use(
    scale: tuple[float, float | None], better: Literal["higher", "lower"] = "higher"
) -> MetricSpec:
    return MetricSpec(
        name="Relevance", version=1, params={}, threshold=None, scale=scale, better=better
    )


def test_profile_rejects_metrics_without_upper_limit_or_with_lower_is_better():
    check_scales(PREP, [use((0, 1))])
    refusal = "profile 'prep_default' cannot include the metric 'Relevance': "
    for spec, why in (
        (use((0, None)), "its scale has no upper limit"),
        (use((0, 1), "lower"), "lower is better"),
    ):
        with pytest.raises(UsageError) as caught:
            check_scales(PREP, [spec])
        assert str(caught.value) == refusal + why
        assert caught.value.hint == "set a threshold for the metric instead"
    with pytest.raises(UsageError, match=f"{refusal}its scale has no upper limit"):
        apply_profile(PREP, {"Relevance": ScaledScore(3, (0, None))})


@pytest.mark.parametrize(
    ("value", "threshold", "better", "expected"),
    [
        (0.8, 0.8, "higher", "passed"),
        (0.7999999999999999, 0.8, "higher", "failed"),
        (0.8, 0.8, "lower", "passed"),
        (0.9, 0.8, "lower", "failed"),
        (0.1, None, "higher", "info"),
    ],
)
def test_score_is_compared_with_its_threshold(
    value: float,
    threshold: float | None,
    better: Literal["higher", "lower"],
    expected: Status,
):
    assert score_status(Score(value=value), threshold, better) == expected


def test_outcomes_without_a_score_neither_pass_nor_fail():
    assert score_status(Unscored(reason="no calls"), 0.5) == "unscored"
    assert score_status(Failed(kind="KeyError", message="x"), 0.5) == "error"


@pytest.mark.parametrize(
    ("score", "passed"),
    [
        (CaseScore(metric="Empathy", status="unscored"), False),
        (CaseScore(metric="EmpathyExplain", status="error"), False),
        (CaseScore(metric="Empathy", status="unscored", not_applicable=True), True),
        (CaseScore(metric="latency", status="unscored"), True),
    ],
)
def test_metric_of_the_profile_without_a_score_withdraws_the_pass(score: CaseScore, passed: bool):
    judgement = hold_back(apply_profile(PREP, everything(4.0)), PREP, [score])
    assert judgement.passed is passed
    assert judgement.reason == ("" if passed else f"Not scored: {score.metric}")


def test_all_metrics_that_withdraw_a_pass_are_named():
    missing = [CaseScore(metric=name, status="unscored") for name in ("Empathy", "Fluency")]
    judgement = hold_back(apply_profile(PREP, everything(4.0)), PREP, missing)
    assert judgement.reason == "Not scored: Empathy, Fluency"


def test_reasons_of_a_failure_are_preserved():
    failed = apply_profile(PREP, everything(2.0))
    assert hold_back(failed, PREP, [CaseScore(metric="Empathy", status="unscored")]) == failed
