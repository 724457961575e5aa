from __future__ import annotations

import pytest

from carob.metrics.metric import Metric
from carob.metrics.text.matching import ExactMatch
from carob.metrics.text.overlap import RougeL
from carob.metrics.text.response_match import ResponseMatch, rouge_1
from carob.schema import Case, Score, Trace, Turn, Unscored


def case(*responses: str | None) -> Case:
    return Case(id="c", turns=tuple(Turn(user="hi", response=text) for text in responses))


def trace(*responses: str | None) -> Trace:
    return Trace(id="t", turns=tuple(Turn(user="hi", response=text) for text in responses))


@pytest.mark.parametrize(
    ("response", "reference", "expected"),
    [
        ("one two three four", "one two three five", 0.75),
        ("the the the the", "the cat", 1 / 3),
        ("connections connected connecting", "connect", 0.5),
        ("The dogs were running quickly", "A dog run quick", 0.4444444444444445),
        ("你好世界", "你好朋友", 0.5),
        ("こんにちは世界", "こんにちは日本", 0.7142857142857143),
        ("ＡＢＣ", "abc", 1.0),
        ("สวัสดีครับ", "สวัสดีค่ะ", 0.6153846153846153),
        ("naïve café", "NAÏVE cafe\u0301", 1.0),
        ("One, two three", "One, two three", 1.0),
        ("", "", 0.0),
        ("!!!", "!!!", 0.0),
        ("!!!", "word", 0.0),
    ],
)
def test_score_equals_adks_bit_for_bit(response: str, reference: str, expected: float):
    assert rouge_1(reference, response) == expected


def test_turns_are_averaged_from_left_to_right():
    score = ResponseMatch().score(case("a b", "c d"), trace("a b", "c x"))
    assert score == Score(value=0.75, turns=(1.0, 0.5), reason="turn 2: 50% of the words match")


def test_missing_and_extra_turns_score_zero():
    assert ResponseMatch().score(case("a", "b"), trace("a")) == Score(
        value=0.5, turns=(1.0, 0.0), reason="turn 2: the turn is missing"
    )
    extra = ResponseMatch().score(case("a"), trace("a", "b"))
    assert isinstance(extra, Score)
    assert extra.turns == (1.0, 0.0)


def test_turn_without_expectation_is_left_out():
    score = ResponseMatch().score(case(None, "b"), trace("anything", "b"))
    assert score == Score(value=1.0, turns=(None, 1.0))


def test_case_without_expectation_is_unscored():
    outcome = ResponseMatch().score(case(None), trace("a"))
    assert outcome == Unscored(reason="the case expects no response", not_applicable=True)


def test_response_that_was_not_recorded_is_unscored_but_an_empty_one_is_zero():
    assert ResponseMatch().score(case("a"), trace(None)) == Unscored(
        reason="the response was not recorded"
    )
    assert ResponseMatch().score(case("a"), trace("")) == Score(
        value=0.0, turns=(0.0,), reason="the response is empty"
    )


@pytest.mark.parametrize("metric", [ResponseMatch(), RougeL(), ExactMatch()])
def test_an_agent_that_failed_before_it_answered_scores_zero_in_that_turn(metric: Metric):
    failed = Turn(user="hi", error="the model is overloaded")
    made = Trace(id="t", turns=(Turn(user="hi", response="a b"), failed))
    score = metric.score(case("a b", "c d"), made)
    assert isinstance(score, Score)
    assert (score.turns, score.reason) == (
        (1.0, 0.0),
        "turn 2: no response: the model is overloaded",
    )
