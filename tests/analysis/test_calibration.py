from __future__ import annotations

import pytest

from carob.analysis.calibration import calibrate, consensus
from carob.errors import EvaluationError
from carob.schema import Calibration, Label, LabelValue, MetricSpec, Run, UnscoredLabels
from tests.analysis.judged import judged, label, labels, metric


def made(run: Run, told: list[Label], use: MetricSpec | None = None) -> Calibration:
    return calibrate(run, use or run.metrics[0], told, "2026-03-02T10:00:00Z")


def test_verdicts_of_people_meet_the_threshold_of_the_metric():
    run = judged({"a": 5.0, "b": 4.0, "c": 3.0, "d": 4.5})
    found = made(run, labels({"a": "passed", "b": "failed", "c": "failed", "d": "passed"}))
    assert (found.agreement.kind, found.agreement.cases) == ("verdicts", 4)
    assert found.agreement.confusion.categories == ("failed", "passed")
    assert found.agreement.confusion.counts == ((1.0, 1.0), (0.0, 2.0))
    assert found.agreement.share.value == 0.75
    assert found.agreement.kappa is not None
    assert found.agreement.kappa.value == 0.5
    assert (found.verdicts, found.bias, found.people) == (None, None, None)


def test_levels_are_compared_as_levels_and_by_the_threshold_besides():
    run = judged({"a": 5.0, "b": 3.4, "c": 1.0, "d": 3.5})
    found = made(run, labels({"a": 4.0, "b": 3.0, "c": 1.0, "d": 4.0}))
    assert found.agreement.kind == "levels"
    assert found.agreement.share.value == 0.75
    assert found.verdicts is not None
    assert found.verdicts.confusion.counts == ((2.0, 0.0), (1.0, 1.0))  # 3.5 is no pass


def test_without_a_threshold_there_are_levels_only():
    run = judged({"a": 5.0, "b": 3.0}, metric(threshold=None))
    assert made(run, labels({"a": 5.0, "b": 3.0})).verdicts is None


def test_the_bias_is_what_the_judge_gives_more_than_people():
    run = judged({"a": 5.0, "b": 3.5, "c": [2.0, 4.0]})
    told = [*labels({"a": 4.0, "b": 3.0}), *_each("c", 3.0)]
    bias = made(run, told).bias
    assert bias is not None
    assert bias.value == pytest.approx((1 + 0.5 + 0) / 3, abs=1e-6)
    assert bias.interval[0] < bias.value < bias.interval[1]


def _each(case: str, opinion: float) -> list[Label]:
    return [label(case, opinion, trace=f"t-{case}-{place}") for place in range(2)]


def test_attempts_at_a_case_share_it_and_are_no_more_data_than_it_is():
    once = made(judged({"a": 5.0, "b": 1.0}), labels({"a": 5.0, "b": 1.0}))
    often = made(judged({"a": [5.0, 5.0], "b": [1.0, 1.0]}), [*_each("a", 5.0), *_each("b", 1.0)])
    assert often.agreement == once.agreement
    split = made(judged({"a": [5.0, 1.0], "b": 1.0}), [*_each("a", 5.0), label("b", 1.0)])
    assert split.agreement.cases == 2
    assert split.agreement.share.value == 0.75


def test_people_who_are_at_odds_are_named_and_left_out():
    run = judged({"a": 5.0, "b": 2.0, "c": 4.0})
    told = [label("a", 5.0), label("b", 2.0), label("c", 3.0, by="ida"), label("c", 4.0, by="jon")]
    found = made(run, told)
    assert found.undecided == ("c",)
    assert found.agreement.cases == 2


def test_agreement_among_people_is_the_ceiling():
    run = judged({"a": 5.0, "b": 2.0, "c": 4.0})
    told = [
        *(label("a", opinion) for opinion in ("passed", "passed", "failed")),
        *(label("b", opinion) for opinion in ("failed", "failed")),
        label("c", "passed"),
    ]
    people = made(run, told).people
    assert people is not None
    assert people.cases == 2
    assert people.share.value == pytest.approx((1 / 3 + 1) / 2, abs=1e-6)
    left, right = people.confusion.counts
    assert left[1] == right[0] == pytest.approx(1 / 3, abs=1e-6)


def test_unscored_failed_and_absent_are_different_things():
    run = judged({"a": 5.0, "b": "unscored", "c": "error", "d": 1.0})
    found = made(run, labels({"a": 5.0, "b": 4.0, "c": 4.0, "d": 1.0, "e": 4.0}))
    assert found.unjudged == UnscoredLabels(unscored=("b",), failed=("c",), absent=("e",))
    assert found.agreement.cases == 2


def test_the_worst_disagreements_come_first_with_both_reasons():
    run = judged({"a": 3.0, "b": 5.0, "c": 4.0})
    told = [label("a", 4.0), label("b", 1.0, note="it insults"), label("c", 4.0)]
    found = made(run, told).disagreements
    assert [(one.case, one.human, one.judge) for one in found] == [("b", 1.0, 5.0), ("a", 4.0, 3.0)]
    assert (found[0].reason, found[0].note) == ("because of b", "it insults")


def test_of_verdicts_the_surest_mistake_is_the_worst():
    run = judged({"a": 4.0, "b": 5.0, "c": 1.0})
    found = made(run, labels({"a": "failed", "b": "failed", "c": "failed"})).disagreements
    assert [(one.case, one.judge, one.value) for one in found] == [
        ("b", "passed", 5.0),
        ("a", "passed", 4.0),
    ]


def test_labels_of_one_kind_give_no_kappa():
    found = made(judged({"a": 5.0, "b": 1.0}), labels({"a": "passed", "b": "passed"}))
    assert found.agreement.kappa is None


def test_where_lower_is_better_low_scores_pass():
    use = metric(better="lower", scale=(0.0, None), threshold=2.0)
    found = made(judged({"a": 1.0, "b": 9.0}, use), labels({"a": "passed", "b": "failed"}))
    assert found.agreement.confusion.counts == ((1.0, 0.0), (0.0, 1.0))


def test_nothing_to_compare_is_refused():
    told = [label("a", "passed"), label("a", "failed")]
    with pytest.raises(EvaluationError, match="no label is left"):
        made(judged({"a": 5.0}), told)


def test_the_digest_of_labels_does_not_depend_on_order_or_file():
    told = labels({"a": 5.0, "b": 1.0})
    reordered = [label("b", 1.0, where="other.jsonl line 9"), label("a", 5.0)]
    run = judged({"a": 5.0, "b": 1.0})
    assert made(run, told).labels == made(run, reordered).labels
    assert made(run, told).labels != made(run, labels({"a": 5.0, "b": 2.0})).labels


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["passed"], "passed"),
        (["passed", "failed", "failed"], "failed"),
        (["passed", "failed"], None),
        ([4.0], 4.0),
        ([1.0, 5.0, 4.0], 4.0),
        ([3.0, 4.0], None),
        ([3.0, 5.0], 4.0),
    ],
)
def test_consensus_is_the_majority_or_the_median_and_none_for_a_tie(
    values: list[LabelValue], expected: LabelValue | None
):
    assert consensus(values, whole=True) == expected


def test_the_median_may_lie_between_labels_if_the_scale_has_no_levels():
    assert consensus([0.5, 0.8]) == pytest.approx(0.65)
