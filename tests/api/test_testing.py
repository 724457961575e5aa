from __future__ import annotations

import pytest

import carob
from carob import Case
from carob.api.testing import score
from carob.errors import UsageError
from carob.schema import ToolCall, Turn

CASE = Case(
    id="refund",
    turns=(
        Turn(
            user="I want my money back",
            response="You get 20 euros back.",
            tool_calls=(ToolCall(name="refund", args={"euros": 20}),),
        ),
    ),
)
GOOD = {
    "response": "You get 20 euros back.",
    "tool_calls": [{"name": "refund", "args": {"euros": 20}}],
}
BAD = {"response": "No.", "tool_calls": [{"name": "refund", "args": {"euros": 25}}]}


def test_good_answer_passes_the_default_metrics():
    scores = carob.check(CASE, GOOD)
    assert scores.passed
    assert scores["tool_usage_accuracy"] == scores["factuality"] == scores["completeness"] == 1


def test_bad_answer_fails_with_the_edit_script_and_both_texts():
    with pytest.raises(AssertionError) as caught:
        carob.check(CASE, BAD, metrics=["tool_trajectory_avg_score"])
    text = str(caught.value)
    assert "refund: euros: expected 20, got 25" in text
    assert "expected  You get 20 euros back." in text
    assert "actual    No." in text


def test_score_is_available_whether_it_passes_or_not():
    scores = carob.score(CASE, BAD, metrics=["response_match_score"])
    assert not scores.passed
    assert scores["response_match_score"] == 0
    assert repr(scores) == "<Scores failed response_match_score=0.0>"


def test_threshold_decides():
    answer = "You get 20 euros."
    metrics = ["response_match_score"]
    for threshold, passed in ((0.95, False), (0.5, True)):
        thresholds = {"response_match_score": threshold}
        assert carob.score(CASE, answer, metrics=metrics, thresholds=thresholds).passed is passed


def test_unscored_metric_has_no_value():
    scores = carob.score(Case.of("Hello"), "Hi!", metrics=["response_match_score"])
    assert not scores.passed
    with pytest.raises(AssertionError, match="response_match_score unscored: the case expects no"):
        scores["response_match_score"]


def test_metric_that_was_not_requested_is_an_error():
    with pytest.raises(UsageError, match="'latency' was not computed") as caught:
        score(CASE, GOOD, metrics=["response_match_score"])["latency"]
    assert caught.value.hint == "computed: response_match_score"


def test_misspelled_metric_is_an_error_with_a_suggestion():
    with pytest.raises(UsageError, match="unknown metric 'respons_match'"):
        carob.check(CASE, GOOD, metrics=["respons_match"])
