from __future__ import annotations

import pytest

from carob.analysis.calibration import calibrate, consensus
from carob.analysis.interval import paired_differences
from carob.errors import EvaluationError
from carob.schema import Calibration, Label, LabelValue, MetricSpec, Run, UnscoredLabels
from tests.analysis.judged import judged, label, labels, metric


def calibrate_run(
    run: Run, human_labels: list[Label], use: MetricSpec | None = None
) -> Calibration:
    return calibrate(run, use or run.metrics[0], human_labels, "2026-03-02T10:00:00Z")


def test_human_verdicts_are_compared_with_the_metric_threshold():
    run = judged({"a": 5.0, "b": 4.0, "c": 3.0, "d": 4.5})
    calibration = calibrate_run(
        run, labels({"a": "passed", "b": "failed", "c": "failed", "d": "passed"})
    )
    assert (calibration.agreement.kind, calibration.agreement.cases) == ("verdicts", 4)
    assert calibration.agreement.confusion.categories == ("failed", "passed")
    assert calibration.agreement.confusion.counts == ((1.0, 1.0), (0.0, 2.0))
    assert calibration.agreement.share.value == 0.75
    assert calibration.agreement.kappa is not None
    assert calibration.agreement.kappa.value == 0.5
    assert (calibration.verdicts, calibration.bias, calibration.people) == (None, None, None)


def test_levels_are_compared_as_levels_and_by_threshold():
    run = judged({"a": 5.0, "b": 3.4, "c": 1.0, "d": 3.5})
    calibration = calibrate_run(run, labels({"a": 4.0, "b": 3.0, "c": 1.0, "d": 4.0}))
    assert calibration.agreement.kind == "levels"
    assert calibration.agreement.share.value == 0.75
    assert calibration.verdicts is not None
    assert calibration.verdicts.confusion.counts == ((2.0, 0.0), (1.0, 1.0))  # 3.5 does not pass


def test_without_a_threshold_only_levels_are_compared():
    run = judged({"a": 5.0, "b": 3.0}, metric(threshold=None))
    assert calibrate_run(run, labels({"a": 5.0, "b": 3.0})).verdicts is None


def test_bias_is_judge_score_minus_human_label():
    run = judged({"a": 5.0, "b": 3.5, "c": [2.0, 4.0]})
    human_labels = [*labels({"a": 4.0, "b": 3.0}), *label_attempts("c", 3.0)]
    bias = calibrate_run(run, human_labels).bias
    assert bias is not None
    assert bias.value == pytest.approx((1 + 0.5 + 0) / 3, abs=1e-6)
    assert bias.interval[0] < bias.value < bias.interval[1]


def test_bias_of_equal_labels_may_be_as_wide_as_the_scale():
    values = {"a": 5.0, "b": 2.0, "c": 4.0}
    bias = calibrate_run(judged(values), labels(values)).bias
    assert bias is not None
    low, high = paired_differences([0.0] * 3, 5.0 - 1.0).interval(0.95)
    assert bias.value == 0.0
    assert bias.interval == pytest.approx((low, high), abs=1e-6)


def test_bias_on_an_open_scale_has_an_interval():
    values = {"a": 2.0, "b": 0.0, "c": 7.0}
    run = judged(values, metric(scale=(0.0, None), threshold=2.0))
    bias = calibrate_run(run, labels(values)).bias
    assert bias is not None
    assert bias.interval[0] < bias.value == 0.0 < bias.interval[1]


def label_attempts(case: str, opinion: float) -> list[Label]:
    return [label(case, opinion, trace=f"t-{case}-{number}") for number in range(2)]


def test_attempts_share_the_weight_of_their_case():
    once = calibrate_run(judged({"a": 5.0, "b": 1.0}), labels({"a": 5.0, "b": 1.0}))
    often = calibrate_run(
        judged({"a": [5.0, 5.0], "b": [1.0, 1.0]}),
        [*label_attempts("a", 5.0), *label_attempts("b", 1.0)],
    )
    assert often.agreement == once.agreement
    split = calibrate_run(
        judged({"a": [5.0, 1.0], "b": 1.0}), [*label_attempts("a", 5.0), label("b", 1.0)]
    )
    assert split.agreement.cases == 2
    assert split.agreement.share.value == 0.75


def test_cases_with_conflicting_labels_are_listed_and_excluded():
    run = judged({"a": 5.0, "b": 2.0, "c": 4.0})
    human_labels = [
        label("a", 5.0),
        label("b", 2.0),
        label("c", 3.0, by="ida"),
        label("c", 4.0, by="jon"),
    ]
    calibration = calibrate_run(run, human_labels)
    assert calibration.undecided == ("c",)
    assert calibration.agreement.cases == 2


def test_agreement_between_humans_is_reported():
    run = judged({"a": 5.0, "b": 2.0, "c": 4.0})
    human_labels = [
        *(label("a", opinion) for opinion in ("passed", "passed", "failed")),
        *(label("b", opinion) for opinion in ("failed", "failed")),
        label("c", "passed"),
    ]
    people = calibrate_run(run, human_labels).people
    assert people is not None
    assert people.cases == 2
    assert people.share.value == pytest.approx((1 / 3 + 1) / 2, abs=1e-6)
    first, second = people.confusion.counts
    assert first[1] == second[0] == pytest.approx(1 / 3, abs=1e-6)


def test_unscored_failed_and_absent_are_distinguished():
    run = judged({"a": 5.0, "b": "unscored", "c": "error", "d": 1.0})
    calibration = calibrate_run(run, labels({"a": 5.0, "b": 4.0, "c": 4.0, "d": 1.0, "e": 4.0}))
    assert calibration.unjudged == UnscoredLabels(unscored=("b",), failed=("c",), absent=("e",))
    assert calibration.agreement.cases == 2


def test_largest_disagreements_come_first_with_both_reasons():
    run = judged({"a": 3.0, "b": 5.0, "c": 4.0})
    human_labels = [label("a", 4.0), label("b", 1.0, note="it insults"), label("c", 4.0)]
    disagreements = calibrate_run(run, human_labels).disagreements
    assert [(item.case, item.human, item.judge) for item in disagreements] == [
        ("b", 1.0, 5.0),
        ("a", 4.0, 3.0),
    ]
    assert (disagreements[0].reason, disagreements[0].note) == ("because of b", "it insults")


def test_most_confident_wrong_verdict_comes_first():
    run = judged({"a": 4.0, "b": 5.0, "c": 1.0})
    disagreements = calibrate_run(
        run, labels({"a": "failed", "b": "failed", "c": "failed"})
    ).disagreements
    assert [(item.case, item.judge, item.value) for item in disagreements] == [
        ("b", "passed", 5.0),
        ("a", "passed", 4.0),
    ]


def test_labels_of_a_single_class_have_no_kappa():
    calibration = calibrate_run(
        judged({"a": 5.0, "b": 1.0}), labels({"a": "passed", "b": "passed"})
    )
    assert calibration.agreement.kappa is None


def test_where_lower_is_better_low_scores_pass():
    use = metric(better="lower", scale=(0.0, None), threshold=2.0)
    calibration = calibrate_run(
        judged({"a": 1.0, "b": 9.0}, use), labels({"a": "passed", "b": "failed"})
    )
    assert calibration.agreement.confusion.counts == ((1.0, 0.0), (0.0, 1.0))


def test_labels_without_a_decision_are_an_error():
    human_labels = [label("a", "passed"), label("a", "failed")]
    with pytest.raises(EvaluationError, match="no label is left") as caught:
        calibrate_run(judged({"a": 5.0}), human_labels)
    assert caught.value.hint == "the labels of every answer that the judge scored are tied"


def test_label_digest_is_independent_of_order_and_file():
    human_labels = labels({"a": 5.0, "b": 1.0})
    reordered = [label("b", 1.0, where="other.jsonl line 9"), label("a", 5.0)]
    run = judged({"a": 5.0, "b": 1.0})
    assert calibrate_run(run, human_labels).labels == calibrate_run(run, reordered).labels
    assert (
        calibrate_run(run, human_labels).labels
        != calibrate_run(run, labels({"a": 5.0, "b": 2.0})).labels
    )


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
def test_consensus_is_majority_or_median_and_none_for_a_tie(
    values: list[LabelValue], expected: LabelValue | None
):
    assert consensus(values, whole=True) == expected


def test_median_may_lie_between_labels_on_a_continuous_scale():
    assert consensus([0.5, 0.8]) == pytest.approx(0.65)
