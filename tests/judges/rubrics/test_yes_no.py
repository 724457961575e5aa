from __future__ import annotations

import pytest

from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.judge_class import judge_class
from carob.judges.rubrics.rubric import JudgeRubric
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted import Scripted, Told, in_turn, judged, verdict

MATCH = builtin_metric("final_response_match_v2")
POLITE = judge_class(
    JudgeRubric(
        name="polite", title="p", question="Is it polite?", kind="yes/no", inputs=("response",)
    )
)
CASE = Case(id="c", turns=(Turn(user="a", response="A"), Turn(user="b", response="B")))
TRACE = Trace(id="t", turns=(Turn(user="a", response="A!"), Turn(user="b", response="C")))
ONE = Trace(id="t", turns=(Turn(user="a", response="A"),))


def said(*votes: bool) -> list[object]:
    return [verdict(yes=vote, explanation="same" if vote else "other") for vote in votes]


def test_adk_asks_five_times_and_the_majority_counts():
    by_turn = {"A!": iter(said(True, True, False, True, False)), "C": iter(said(*[False] * 5))}
    ask = Scripted(lambda question: next(by_turn["A!" if "A!" in question.prompt else "C"]))
    outcome = judged(MATCH(), CASE, TRACE, ask)
    assert isinstance(outcome, Score)
    assert len(ask.questions) == 10
    assert sorted({question.sample for question in ask.questions}) == [0, 1, 2, 3, 4]
    assert outcome.turns == (1.0, 0.0)
    assert outcome.value == 0.5
    assert outcome.reason == "turn 1: same; turn 2: other"
    assert outcome.details["agreement"] == pytest.approx((0.6 + 1.0) / 2)


def test_tie_loses():
    outcome = judged(
        MATCH(samples=4), Case.of("a", "A"), ONE, in_turn(said(True, True, False, False))
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    assert outcome.details["agreement"] == 0.5


def test_sample_that_fails_does_not_void_the_turn():
    answers = [Failed(kind="Timeout", message="late"), *said(True, True, False, False)]
    outcome = judged(MATCH(), Case.of("a", "A"), ONE, in_turn(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    answers = [Failed(kind="Timeout", message="late"), *said(True, True, True, False)]
    outcome = judged(MATCH(), Case.of("a", "A"), ONE, in_turn(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert outcome.details["failed_samples"] == ["Timeout: late"]


def test_votes_are_counted_where_adk_counts_votes_even_if_probabilities_are_told():
    told = Told(verdict(yes=True), {"yes": 0.9, "no": 0.1})
    outcome = judged(MATCH(samples=1), Case.of("a", "A"), ONE, in_turn([told]))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert outcome.details["from"] == "answers"


def test_probability_of_yes_is_the_score_elsewhere():
    told = [
        Told(verdict(yes=True), {"yes": 0.9, "no": 0.1}),
        Told(verdict(yes=False), {"yes": 0.4, "no": 0.6}),
    ]
    outcome = judged(POLITE(samples=2), Case(id="c"), ONE, in_turn(told))
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(0.65)
    assert outcome.details["from"] == "token probabilities"


def test_majority_counts_elsewhere_too_where_no_probabilities_are_told():
    outcome = judged(POLITE(samples=3), Case(id="c"), ONE, in_turn(said(True, False, True)))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0


def test_turn_without_an_expected_response_is_left_out():
    case = Case(id="c", turns=(Turn(user="a"), Turn(user="b", response="B")))
    outcome = judged(MATCH(), case, TRACE, in_turn(said(*[True] * 5)))
    assert isinstance(outcome, Score)
    assert outcome.turns == (None, 1.0)


def test_case_that_expects_no_response_is_unscored():
    assert judged(MATCH(), Case.of("a"), ONE, in_turn([])) == Unscored(
        reason="the case expects no response", not_applicable=True
    )
