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
    details,
    judge_pair,
    score,
)

FLUENCY = builtin_metric("Fluency")
CASE = Case.of("Where is A7?", id="c")


def trace(*responses: str | None) -> Trace:
    return Trace(
        id="t", turns=tuple(Turn(user="Where is A7?", response=response) for response in responses)
    )


def test_score_has_the_reason_and_the_answers():
    outcome = judge_pair(
        FLUENCY(), CASE, trace("In Porto."), answer_in_order([score(4, "It reads well.")])
    )
    assert outcome == Score(
        value=4.0,
        reason="It reads well.",
        turns=(4.0,),
        details={
            "samples": [
                {
                    "value": 4.0,
                    "thoughtChain": "first this",
                    "explanation": "It reads well.",
                    "score": 4,
                }
            ],
            "agreement": 1.0,
            "attempts": [],
            "from": "answers",
        },
    )


def test_median_of_the_samples_is_the_score_and_agreement_is_reported():
    answers = [score(1, "bad"), score(4, "good"), score(5), score(4), score(2)]
    outcome = judge_pair(FLUENCY(samples=5), CASE, trace("In Porto."), answer_in_order(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 4.0
    assert outcome.reason == "good"
    assert outcome.details["agreement"] == 0.4


def test_median_of_an_even_number_of_samples_is_the_mean_of_the_middle_two():
    outcome = judge_pair(
        FLUENCY(samples=2), CASE, trace("x"), answer_in_order([score(2), score(5)])
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 3.5
    assert outcome.details["agreement"] == 0.0


def test_failed_sample_does_not_void_the_others():
    answers = [Failed(kind="Timeout", message="late"), score(3), score(3)]
    outcome = judge_pair(FLUENCY(samples=3), CASE, trace("x"), answer_in_order(answers))
    assert isinstance(outcome, Score)
    assert outcome.value == 3.0
    assert outcome.details["failed_samples"] == ["Timeout: late"]
    assert outcome.details["agreement"] == 1.0


def test_turns_are_scored_separately_and_turns_without_a_response_excluded():
    outcome = judge_pair(
        FLUENCY(), CASE, trace("a", None, "b"), answer_in_order([score(2, "A"), score(5, "B")])
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 3.5
    assert outcome.turns == (2.0, None, 5.0)
    assert outcome.reason == "turn 1: A; turn 3: B"
    assert [sample["turn"] for sample in details(outcome, "samples")] == [1, 3]


def test_turn_without_valid_samples_fails_the_metric():
    answers = [score(2), Failed(kind="Timeout", message="late")]
    outcome = judge_pair(FLUENCY(), CASE, trace("a", "b"), answer_in_order(answers))
    assert outcome == Failed(kind="Timeout", message="turn 2: late")


def test_empty_response_is_judged_and_missing_response_is_not():
    ask = ScriptedAsk(lambda _: score(1))
    assert judge_pair(FLUENCY(), CASE, trace(None), ask) == Unscored(
        reason="the response was not recorded"
    )
    assert ask.questions == []
    assert isinstance(judge_pair(FLUENCY(), CASE, trace(""), ask), Score)


def test_score_is_the_expected_value_if_probabilities_are_known():
    answers = AnswerWithProbabilities(score(4), {"1": 0.0, "3": 0.25, "4": 0.5, "5": 0.25})
    outcome = judge_pair(FLUENCY(), CASE, trace("x"), answer_in_order([answers]))
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(4.0)
    assert outcome.details["from"] == "token probabilities"


def test_answers_are_used_if_only_some_samples_have_probabilities():
    answer = AnswerWithProbabilities(score(5), {"4": 0.5, "5": 0.5})
    outcome = judge_pair(FLUENCY(samples=2), CASE, trace("x"), answer_in_order([answer, score(5)]))
    assert isinstance(outcome, Score)
    assert outcome.value == 5.0
    assert outcome.details["from"] == "answers"


def test_missing_goal_leaves_task_adherence_unscored():
    outcome = judge_pair(
        builtin_metric("TaskAdherence")(), CASE, trace("x"), ScriptedAsk(lambda _: score(1))
    )
    assert outcome == Unscored(reason="the case states no goal", not_applicable=True)


def test_missing_turn_gets_the_worst_score_if_a_response_is_expected():
    case = Case(id="c", turns=(Turn(user="a", response="A"), Turn(user="b", response="B")))
    matched = judge_class(
        JudgeRubric(
            name="match", title="m", question="q", kind="numbers", low=1, high=5,
            inputs=("response", "reference"),
        )
    )  # fmt: skip
    outcome = judge_pair(matched(), case, trace("A"), answer_in_order([score(5)]))
    assert isinstance(outcome, Score)
    assert outcome.turns == (5.0, 1.0)
    assert outcome.value == 3.0
    assert "turn 2: the turn is missing" in outcome.reason


def test_mean_of_the_samples_is_used_if_the_rubric_says_so():
    shares = judge_class(
        JudgeRubric(
            name="share", title="s", question="q", kind="numbers", combine="mean",
            inputs=("response",), samples=2,
        )
    )  # fmt: skip
    outcome = judge_pair(shares(), CASE, trace("x"), answer_in_order([score(0.25), score(0.5)]))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.375
