from __future__ import annotations

import pytest

from carob.analysis.looked_at import looked_at
from carob.errors import RefusedError, UsageError
from tests.analysis.judged import judged, label


def test_labels_meet_the_score_of_the_only_trace_or_of_the_one_they_name():
    run = judged({"a": 4.0, "b": [1.0, 5.0]})
    told = [label("a", 4.0), label("b", 5.0, trace="t-b-1"), label("a", 3.0, trace="t-a")]
    found = looked_at(run, "tone", told)
    assert [(one.case, one.trace, len(one.labels)) for one in found] == [
        ("a", "t-a", 2),
        ("b", "t-b-1", 1),
    ]
    assert [one.score.value for one in found if one.score] == [4.0, 5.0]


def test_a_label_that_could_be_of_several_traces_is_an_error():
    with pytest.raises(UsageError) as caught:
        looked_at(judged({"b": [1.0, 5.0]}), "tone", [label("b", 5.0)])
    assert str(caught.value).endswith("case 'b' has 2 traces, and the label names none")
    assert caught.value.hint == "write into `trace` which one was looked at: t-b-0, t-b-1"


def test_what_the_run_does_not_have_has_no_score():
    told = [label("a", 4.0), label("a", 4.0, trace="other"), label("gone", 4.0)]
    found = looked_at(judged({"a": 4.0}), "tone", told)
    assert [one.score is None for one in found] == [False, True, True]


def test_labels_of_other_cases_only_are_refused():
    with pytest.raises(RefusedError, match="none of the answers that are labelled, such as 'x'"):
        looked_at(judged({"a": 4.0}), "tone", [label("x", 4.0)])


def test_a_judge_who_scored_nothing_is_refused_with_its_own_reason():
    with pytest.raises(RefusedError, match="tone scored none of the 1 answers") as caught:
        looked_at(judged({"a": "unscored"}), "tone", [label("a", 4.0)])
    assert caught.value.hint == "of the first it says: because of a"
