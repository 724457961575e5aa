from __future__ import annotations

import pytest

from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.judge_class import judge_class
from carob.judges.rubrics.rubric import JudgeRubric
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted import Scripted, Told, details, in_turn, judged, score

FLUENCY = builtin_metric("Fluency")
CASE = Case.of("Where is A7?", id="c")


def trace(*responses: str | None) -> Trace:
    return Trace(
        id="t", turns=tuple(Turn(user="Where is A7?", response=response) for response in responses)
    )


def test_score_has_its_reason_and_what_was_answered():
    outcome = judged(FLUENCY(), CASE, trace("In Porto."), in_turn([score(4, "It reads well.")]))
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


def test_median_of_the_samples_counts_and_agreement_is_told():
    said = [score(1, "bad"), score(4, "good"), score(5), score(4), score(2)]
    outcome = judged(FLUENCY(samples=5), CASE, trace("In Porto."), in_turn(said))
    assert isinstance(outcome, Score)
    assert outcome.value == 4.0
    assert outcome.reason == "good"
    assert outcome.details["agreement"] == 0.4


def test_median_of_an_even_number_of_samples_is_between_the_two_in_the_middle():
    outcome = judged(FLUENCY(samples=2), CASE, trace("x"), in_turn([score(2), score(5)]))
    assert isinstance(outcome, Score)
    assert outcome.value == 3.5
    assert outcome.details["agreement"] == 0.0


def test_failed_sample_does_not_void_the_others():
    said = [Failed(kind="Timeout", message="late"), score(3), score(3)]
    outcome = judged(FLUENCY(samples=3), CASE, trace("x"), in_turn(said))
    assert isinstance(outcome, Score)
    assert outcome.value == 3.0
    assert outcome.details["failed_samples"] == ["Timeout: late"]
    assert outcome.details["agreement"] == 1.0


def test_turns_are_scored_one_by_one_and_one_without_a_response_is_left_out():
    outcome = judged(
        FLUENCY(), CASE, trace("a", None, "b"), in_turn([score(2, "A"), score(5, "B")])
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 3.5
    assert outcome.turns == (2.0, None, 5.0)
    assert outcome.reason == "turn 1: A; turn 3: B"
    assert [sample["turn"] for sample in details(outcome, "samples")] == [1, 3]


def test_turn_without_any_sample_fails_the_whole():
    said = [score(2), Failed(kind="Timeout", message="late")]
    outcome = judged(FLUENCY(), CASE, trace("a", "b"), in_turn(said))
    assert outcome == Failed(kind="Timeout", message="turn 2: late")


def test_empty_response_is_judged_and_one_that_was_not_recorded_is_not():
    ask = Scripted(lambda _: score(1))
    assert judged(FLUENCY(), CASE, trace(None), ask) == Unscored(
        reason="the response was not recorded"
    )
    assert ask.questions == []
    assert isinstance(judged(FLUENCY(), CASE, trace(""), ask), Score)


def test_expected_value_over_the_scale_where_probabilities_are_told():
    said = Told(score(4), {"1": 0.0, "3": 0.25, "4": 0.5, "5": 0.25})
    outcome = judged(FLUENCY(), CASE, trace("x"), in_turn([said]))
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(4.0)
    assert outcome.details["from"] == "token probabilities"


def test_answers_count_where_only_some_samples_tell_probabilities():
    told = Told(score(5), {"4": 0.5, "5": 0.5})
    outcome = judged(FLUENCY(samples=2), CASE, trace("x"), in_turn([told, score(5)]))
    assert isinstance(outcome, Score)
    assert outcome.value == 5.0
    assert outcome.details["from"] == "answers"


def test_goal_that_is_not_stated_leaves_task_adherence_unscored():
    outcome = judged(
        builtin_metric("TaskAdherence")(), CASE, trace("x"), Scripted(lambda _: score(1))
    )
    assert outcome == Unscored(reason="the case states no goal", not_applicable=True)


def test_turn_that_is_missing_is_the_worst_where_a_response_is_expected():
    case = Case(id="c", turns=(Turn(user="a", response="A"), Turn(user="b", response="B")))
    matched = judge_class(
        JudgeRubric(
            name="match", title="m", question="q", kind="numbers", low=1, high=5,
            inputs=("response", "reference"),
        )
    )  # fmt: skip
    outcome = judged(matched(), case, trace("A"), in_turn([score(5)]))
    assert isinstance(outcome, Score)
    assert outcome.turns == (5.0, 1.0)
    assert outcome.value == 3.0
    assert "turn 2: the turn is missing" in outcome.reason


def test_mean_of_the_samples_where_the_rubric_wants_it():
    shares = judge_class(
        JudgeRubric(
            name="share", title="s", question="q", kind="numbers", combine="mean",
            inputs=("response",), samples=2,
        )
    )  # fmt: skip
    outcome = judged(shares(), CASE, trace("x"), in_turn([score(0.25), score(0.5)]))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.375
