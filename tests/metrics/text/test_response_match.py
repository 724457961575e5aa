from __future__ import annotations

import pytest

from carob.metrics.metric import Metric
from carob.metrics.text.conciseness import Conciseness
from carob.metrics.text.factuality import Completeness, Factuality
from carob.metrics.text.matching import Contains, ExactMatch
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
    assert (extra.turns, extra.reason) == ((1.0, 0.0), "turn 2: the turn is not expected")


def test_turn_without_expectation_is_left_out():
    score = ResponseMatch().score(case(None, "b"), trace("anything", "b"))
    assert score == Score(value=1.0, turns=(None, 1.0))


@pytest.mark.parametrize(
    "metric", [ResponseMatch(), RougeL(), Factuality(), Completeness(), Conciseness()]
)
def test_turns_without_a_score_say_why(metric: Metric):
    turns = (Turn(user="hi"), Turn(user="hi", response="b"))
    table = Trace(id="t", turns=turns, convention="simulation")  # which has the last response only
    assert metric.score(case("a", None), table) == Unscored(
        reason="the response was not recorded; the turn expects no response"
    )


@pytest.mark.parametrize("metric", [ResponseMatch(), ExactMatch(), Factuality()])
def test_case_without_expectation_is_unscored(metric: Metric):
    outcome = metric.score(case(None), trace("a"))
    assert outcome == Unscored(reason="the case expects no response", not_applicable=True)


METRICS = [ResponseMatch(), RougeL(), ExactMatch(), Contains(texts=("a",))]


@pytest.mark.parametrize("metric", METRICS)
def test_agent_that_gave_no_response_scores_zero(metric: Metric):
    score = metric.score(case("a"), trace(None))
    assert isinstance(score, Score)
    assert (score.value, score.reason) == (0.0, "no response")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("turns", [(), (Turn(),), (Turn(tool_calls=()), Turn(), Turn())])
def test_trace_without_any_text_is_unscored_whatever_its_length(
    metric: Metric, turns: tuple[Turn, ...]
):
    outcome = metric.score(case("a", "b"), Trace(id="t", turns=turns))
    assert isinstance(outcome, Unscored)
    assert "the response was not recorded" in outcome.reason
    assert not outcome.not_applicable


def test_text_of_any_turn_shows_that_responses_were_recorded():
    silent = Trace(id="t", turns=(Turn(), Turn(response="b")))
    score = ResponseMatch().score(case("a", "b"), silent)
    assert score == Score(value=0.5, turns=(0.0, 1.0), reason="turn 1: no response")


def test_columns_of_a_simulation_table_have_the_last_response_only():
    turns = (Turn(user="hi"), Turn(user="hi", response="b"))
    table = Trace(id="t", turns=turns, convention="simulation")
    assert ResponseMatch().score(case("a", "b"), table) == Score(value=1.0, turns=(None, 1.0))
    score = ResponseMatch().score(
        case("a"), Trace(id="t", turns=turns[:1], convention="simulation")
    )
    assert isinstance(score, Score)
    assert score.value == 0.0


def test_empty_response_is_zero():
    assert ResponseMatch().score(case("a"), trace("")) == Score(
        value=0.0, turns=(0.0,), reason="the response is empty"
    )


@pytest.mark.parametrize("metric", [ResponseMatch(), RougeL(), ExactMatch()])
def test_agent_that_failed_before_it_answered_scores_zero_in_that_turn(metric: Metric):
    failed = Turn(user="hi", error="the model is overloaded")
    made = Trace(id="t", turns=(Turn(user="hi", response="a b"), failed))
    score = metric.score(case("a b", "c d"), made)
    assert isinstance(score, Score)
    assert (score.turns, score.reason) == (
        (1.0, 0.0),
        "turn 2: no response: the model is overloaded",
    )


@pytest.mark.parametrize("metric", [Factuality(), Completeness(), Conciseness()])
def test_facts_of_a_turn_without_a_response_are_missing(metric: Metric):
    answered = Turn(user="hi", response="The order arrives on Monday.")
    golden = Case(id="c", turns=(answered, answered))
    score = metric.score(golden, Trace(id="t", turns=(answered, Turn(user="hi"))))
    assert isinstance(score, Score)
    assert score.turns == (1.0, 0.0)
    assert "turn 2: no response" in score.reason
