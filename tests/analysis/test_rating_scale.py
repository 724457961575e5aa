from __future__ import annotations

import pytest

from carob.analysis.rating_scale import LevelScale, PassFailScale, choose_scale
from carob.errors import FormatError, UsageError
from carob.schema import LabelValue, MetricSpec
from carob.schema.outcome import Scale
from tests.analysis.judged import label, labels, metric


@pytest.mark.parametrize(
    ("use", "opinion", "kind"),
    [
        (metric(), "passed", "verdicts"),
        (metric(), 3.0, "levels"),
        (metric(), 3.5, "verdicts"),
        (metric(threshold=None), 3.0, "levels"),
        (metric(scale=(0.0, 1.0), threshold=0.5), 1.0, "levels"),
        (metric(scale=(0.0, 1.0), threshold=0.5), 0.7, "verdicts"),
        (metric(scale=(0.0, 100.0), threshold=50.0), 70.0, "verdicts"),
        (metric(scale=(0.0, None), threshold=2.0), 1.0, "verdicts"),
        (metric(scale=(0.5, 5.5), threshold=2.0), 1.5, "verdicts"),
    ],
)
def test_levels_are_for_labels_on_few_whole_levels(use: MetricSpec, opinion: LabelValue, kind: str):
    assert choose_scale(use, labels({"a": opinion})).kind == kind


def test_levels_are_the_whole_numbers_of_the_scale():
    assert choose_scale(metric(), labels({"a": 3.0})) == LevelScale((1.0, 2.0, 3.0, 4.0, 5.0))


def test_score_is_rounded_to_a_level_with_halves_up():
    levels = LevelScale((1.0, 2.0, 3.0))
    assert [levels.category(value) for value in (0.2, 1.49, 1.5, 2.5, 3.9)] == [1, 1, 2, 3, 3]


def test_score_passes_by_the_threshold_in_the_direction_of_the_metric():
    assert [PassFailScale(4.0, "higher").category(value) for value in (3.9, 4.0)] == [
        "failed",
        "passed",
    ]
    assert [PassFailScale(4.0, "lower").category(value) for value in (4.0, 4.1)] == [
        "passed",
        "failed",
    ]


@pytest.mark.parametrize(
    ("opinion", "kind"), [("passed", "verdicts"), (3.5, "numbers between levels")]
)
def test_verdicts_need_a_threshold(opinion: LabelValue, kind: str):
    with pytest.raises(UsageError) as caught:
        choose_scale(metric(threshold=None), labels({"a": opinion}))
    assert caught.value.message == f"the labels are {kind}, but tone has no threshold"
    assert caught.value.hint == "set the score from which an answer passes with --threshold"


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [
        (0.0, (1.0, 5.0), "a number from 1 to 5"),
        (6.0, (1.0, 5.0), "a number from 1 to 5"),
        (-1.0, (0.0, None), "0 or more"),
    ],
)
def test_label_off_the_scale_is_an_error_at_its_line(value: float, scale: Scale, expected: str):
    wrong = label("b", value, where="labels.csv line 7")
    with pytest.raises(FormatError) as caught:
        choose_scale(metric(scale=scale), [label("a", 3.0), wrong])
    assert str(caught.value) == (
        f"labels.csv line 7: label is {value:g}, expected {expected} (the scale of tone)"
    )


def test_verdicts_and_numbers_are_not_mixed():
    wrong = label("b", 4.0, where="labels.csv line 3")
    with pytest.raises(
        FormatError, match=r"line 3: label is 4\.0, but the previous one is 'passed'"
    ) as caught:
        choose_scale(metric(), [label("a", "passed"), wrong])
    assert caught.value.hint == "label with either verdicts or numbers, not both"


def test_score_is_as_far_off_as_the_number_or_from_the_threshold_of_a_verdict():
    scale = PassFailScale(4.0, "higher")
    assert [scale.distance(human, 1.5) for human in ("passed", "failed", 2.0)] == [2.5, 2.5, 0.5]
    levels = LevelScale((1.0, 2.0, 3.0))
    assert [levels.distance(human, 1.5) for human in ("passed", 3.0)] == [0.0, 1.5]
