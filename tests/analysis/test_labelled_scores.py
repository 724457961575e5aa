from __future__ import annotations

import pytest

from carob.analysis.labelled_scores import labelled_answers
from carob.errors import EvaluationError, UsageError
from tests.analysis.judged import judged, label


def test_label_is_paired_with_the_only_trace_or_the_named_trace():
    run = judged({"a": 4.0, "b": [1.0, 5.0]})
    human_labels = [label("a", 4.0), label("b", 5.0, trace="t-b-1"), label("a", 3.0, trace="t-a")]
    answers = labelled_answers(run, "tone", human_labels)
    assert [(answer.case, answer.trace, len(answer.labels)) for answer in answers] == [
        ("a", "t-a", 2),
        ("b", "t-b-1", 1),
    ]
    assert [answer.score.value for answer in answers if answer.score] == [4.0, 5.0]


def test_label_that_matches_several_traces_is_an_error():
    with pytest.raises(UsageError) as caught:
        labelled_answers(judged({"b": [1.0, 5.0]}), "tone", [label("b", 5.0)])
    assert str(caught.value).endswith("case 'b' has 2 traces and the label does not say which")
    assert caught.value.hint == "set `trace` to one of: t-b-0, t-b-1"


def test_label_without_a_result_in_the_run_has_no_score():
    human_labels = [label("a", 4.0), label("a", 4.0, trace="other"), label("gone", 4.0)]
    answers = labelled_answers(judged({"a": 4.0}), "tone", human_labels)
    assert [answer.score is None for answer in answers] == [False, True, True]


def test_labels_without_any_matching_case_are_an_error():
    with pytest.raises(EvaluationError, match="none of the labelled answers, such as 'x'"):
        labelled_answers(judged({"a": 4.0}), "tone", [label("x", 4.0)])


def test_judge_that_scored_nothing_is_an_error_with_its_reason():
    with pytest.raises(
        EvaluationError, match="tone scored none of the 1 labelled answers"
    ) as caught:
        labelled_answers(judged({"a": "unscored"}), "tone", [label("a", 4.0)])
    assert caught.value.hint == "reason for the first: because of a"
