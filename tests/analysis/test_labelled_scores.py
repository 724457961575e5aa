from __future__ import annotations

import pytest

from carob.analysis.labelled_scores import labelled_answers
from carob.errors import EvaluationError, UsageError
from tests.analysis.judged import judged, label


def test_labels_meet_the_score_of_the_only_trace_or_of_the_one_they_name():
    run = judged({"a": 4.0, "b": [1.0, 5.0]})
    told = [label("a", 4.0), label("b", 5.0, trace="t-b-1"), label("a", 3.0, trace="t-a")]
    found = labelled_answers(run, "tone", told)
    assert [(one.case, one.trace, len(one.labels)) for one in found] == [
        ("a", "t-a", 2),
        ("b", "t-b-1", 1),
    ]
    assert [one.score.value for one in found if one.score] == [4.0, 5.0]


def test_a_label_that_could_be_of_several_traces_is_an_error():
    with pytest.raises(UsageError) as caught:
        labelled_answers(judged({"b": [1.0, 5.0]}), "tone", [label("b", 5.0)])
    assert str(caught.value).endswith("case 'b' has 2 traces and the label does not say which")
    assert caught.value.hint == "set `trace` to one of: t-b-0, t-b-1"


def test_what_the_run_does_not_have_has_no_score():
    told = [label("a", 4.0), label("a", 4.0, trace="other"), label("gone", 4.0)]
    found = labelled_answers(judged({"a": 4.0}), "tone", told)
    assert [one.score is None for one in found] == [False, True, True]


def test_labels_of_other_cases_only_are_refused():
    with pytest.raises(EvaluationError, match="none of the labelled answers, such as 'x'"):
        labelled_answers(judged({"a": 4.0}), "tone", [label("x", 4.0)])


def test_a_judge_who_scored_nothing_is_refused_with_its_own_reason():
    with pytest.raises(
        EvaluationError, match="tone scored none of the 1 labelled answers"
    ) as caught:
        labelled_answers(judged({"a": "unscored"}), "tone", [label("a", 4.0)])
    assert caught.value.hint == "reason for the first: because of a"
