from __future__ import annotations

import pytest

from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.judge_class import judge_class
from carob.judges.rubrics.rubric import JudgeRubric
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted_ask import (
    AnswerWithProbabilities,
    ScriptedAsk,
    answer_in_order,
    judge_pair,
    verdict,
)

MATCH = builtin_metric("final_response_match_v2")
POLITE = judge_class(
    JudgeRubric(
        name="polite", title="p", question="Is it polite?", kind="yes/no", inputs=("response",)
    )
)
CASE = Case(id="c", turns=(Turn(user="a", response="A"), Turn(user="b", response="B")))
TRACE = Trace(id="t", turns=(Turn(user="a", response="A!"), Turn(user="b", response="C")))
ONE_TURN = Trace(id="t", turns=(Turn(user="a", response="A"),))


def verdicts_of(*votes: bool) -> list[object]:
    return [verdict(yes=vote, explanation="same" if vote else "other") for vote in votes]


def test_adk_metric_asks_five_times_and_the_majority_decides():
    by_turn = {
        "A!": iter(verdicts_of(True, True, False, True, False)),
        "C": iter(verdicts_of(*[False] * 5)),
    }
    ask = ScriptedAsk(lambda question: next(by_turn["A!" if "A!" in question.prompt else "C"]))
    outcome = judge_pair(MATCH(), CASE, TRACE, ask)
    assert isinstance(outcome, Score)
    assert len(ask.questions) == 10
    assert sorted({question.sample for question in ask.questions}) == [0, 1, 2, 3, 4]
    assert outcome.turns == (1.0, 0.0)
    assert outcome.value == 0.5
    assert outcome.reason == "turn 1: same; turn 2: other"
    assert outcome.details["agreement"] == pytest.approx((0.6 + 1.0) / 2)


def test_tie_fails():
    outcome = judge_pair(
        MATCH(samples=4),
        Case.of("a", "A"),
        ONE_TURN,
        answer_in_order(verdicts_of(True, True, False, False)),
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    assert outcome.details["agreement"] == 0.5


def test_failed_sample_does_not_void_the_turn():
    answers = [Failed(kind="Timeout", message="late"), *verdicts_of(True, True, False, False)]
    outcome = judge_pair(MATCH(), Case.of("a", "A"), ONE_TURN, answer_in_order(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    answers = [Failed(kind="Timeout", message="late"), *verdicts_of(True, True, True, False)]
    outcome = judge_pair(MATCH(), Case.of("a", "A"), ONE_TURN, answer_in_order(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert outcome.details["failed_samples"] == ["Timeout: late"]


def test_adk_metric_counts_votes_even_if_probabilities_are_known():
    answer = AnswerWithProbabilities(verdict(yes=True), {"yes": 0.9, "no": 0.1})
    outcome = judge_pair(MATCH(samples=1), Case.of("a", "A"), ONE_TURN, answer_in_order([answer]))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert outcome.details["from"] == "answers"


def test_other_metrics_use_the_probability_of_yes():
    answers = [
        AnswerWithProbabilities(verdict(yes=True), {"yes": 0.9, "no": 0.1}),
        AnswerWithProbabilities(verdict(yes=False), {"yes": 0.4, "no": 0.6}),
    ]
    outcome = judge_pair(POLITE(samples=2), Case(id="c"), ONE_TURN, answer_in_order(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(0.65)
    assert outcome.details["from"] == "token probabilities"


def test_other_metrics_use_the_majority_without_probabilities():
    outcome = judge_pair(
        POLITE(samples=3), Case(id="c"), ONE_TURN, answer_in_order(verdicts_of(True, False, True))
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0


def test_turn_without_an_expected_response_is_excluded():
    case = Case(id="c", turns=(Turn(user="a"), Turn(user="b", response="B")))
    outcome = judge_pair(MATCH(), case, TRACE, answer_in_order(verdicts_of(*[True] * 5)))
    assert isinstance(outcome, Score)
    assert outcome.turns == (None, 1.0)


def test_case_that_expects_no_response_is_unscored():
    assert judge_pair(MATCH(), Case.of("a"), ONE_TURN, answer_in_order([])) == Unscored(
        reason="the case expects no response", not_applicable=True
    )
