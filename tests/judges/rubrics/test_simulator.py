from __future__ import annotations

from carob.judges.rubrics.builtin import builtin_metric
from carob.metrics import Question, build
from carob.schema import Case, Failed, Scenario, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted import Scripted, judged, verdict

SIMULATOR = builtin_metric("per_turn_user_simulator_quality_v1")
CASE = Case(id="c", scenario=Scenario(prompt="Hello", plan="Ask for A7, then say thanks."))
TRACE = Trace(
    id="t",
    turns=(
        Turn(user=" Hello ", response="Hi!"),
        Turn(user="Where is A7?", response="In Porto."),
        Turn(user="Thanks", response="You are welcome."),
    ),
)


def message(question: Question[object]) -> str:  # pyright: ignore[reportInvalidTypeArguments] - any answer
    """The message that a question is about."""
    part = question.prompt.split("<<<user ", 1)[1]
    return part.split("\n")[1]


def said(wrong: str) -> Scripted:
    return Scripted(lambda question: verdict(yes=message(question) != wrong, explanation="why"))


def test_first_message_is_compared_and_the_others_and_the_end_are_judged():
    ask = said("nothing")
    outcome = judged(SIMULATOR(), CASE, TRACE, ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 1.0, 1.0)
    asked = [message(question) for question in ask.questions]
    assert [*dict.fromkeys(asked)] == ["Where is A7?", "Thanks", "</finished>"]
    assert len(asked) == 15


def test_message_sees_only_what_was_said_before():
    ask = said("nothing")
    judged(SIMULATOR(samples=1), CASE, TRACE, ask)
    histories = [question.prompt.split("<<<history ", 1)[1] for question in ask.questions]
    assert ["In Porto." in history for history in histories] == [False, True, True]
    assert ["You are welcome." in history for history in histories] == [False, False, True]


def test_message_that_does_not_follow_the_plan_is_not_counted():
    outcome = judged(SIMULATOR(), CASE, TRACE, said("Where is A7?"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 0.0, 1.0)
    assert outcome.value == 2 / 3


def test_wrong_end_makes_the_last_turn_wrong():
    outcome = judged(SIMULATOR(), CASE, TRACE, said("</finished>"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 1.0, 0.0)
    assert "turn 3: the conversation should not have ended here: why" in outcome.reason


def test_other_first_message_is_wrong_whatever_a_judge_would_say():
    trace = Trace(id="t", turns=(Turn(user="Good day", response="Hi!"), *TRACE.turns[1:]))
    outcome = judged(SIMULATOR(), CASE, trace, said("nothing"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0, 1.0)
    assert "turn 1: the first message is not the scenario's" in outcome.reason


def test_stop_signal_is_a_parameter():
    ask = said("nothing")
    made = build(SIMULATOR.name, {"stop_signal": "BYE", "samples": 1}, {SIMULATOR.name: SIMULATOR})
    judged(made, CASE, TRACE, ask)
    assert message(ask.questions[-1]) == "BYE"


def test_case_without_a_scenario_is_unscored():
    outcome = judged(SIMULATOR(), Case.of("Hello"), TRACE, said("nothing"))
    assert outcome == Unscored(reason="the case has no scenario", not_applicable=True)


def test_turn_that_nobody_answers_for_fails_the_whole():
    late = Failed(kind="Timeout", message="late")
    ask = Scripted(lambda one: late if message(one) == "Thanks" else verdict(yes=True))
    assert judged(SIMULATOR(), CASE, TRACE, ask) == Failed(kind="Timeout", message="turn 3: late")
