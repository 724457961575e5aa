from __future__ import annotations

from carob.judges.rubrics.builtin import builtin_metric
from carob.metrics import Question, build
from carob.schema import Case, Failed, Scenario, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted_ask import ScriptedAsk, judge_pair, verdict

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
    """The user message that a question is about."""
    part = question.prompt.split("<<<user ", 1)[1]
    return part.split("\n")[1]


def reject_message(wrong: str) -> ScriptedAsk:
    return ScriptedAsk(lambda question: verdict(yes=message(question) != wrong, explanation="why"))


def test_first_message_is_compared_and_the_others_and_the_end_are_judged():
    ask = reject_message("nothing")
    outcome = judge_pair(SIMULATOR(), CASE, TRACE, ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 1.0, 1.0)
    messages = [message(question) for question in ask.questions]
    assert [*dict.fromkeys(messages)] == ["Where is A7?", "Thanks", "</finished>"]
    assert len(messages) == 15


def test_message_is_judged_with_the_earlier_history_only():
    ask = reject_message("nothing")
    judge_pair(SIMULATOR(samples=1), CASE, TRACE, ask)
    histories = [question.prompt.split("<<<history ", 1)[1] for question in ask.questions]
    assert ["In Porto." in history for history in histories] == [False, True, True]
    assert ["You are welcome." in history for history in histories] == [False, False, True]


def test_message_off_the_plan_scores_zero():
    outcome = judge_pair(SIMULATOR(), CASE, TRACE, reject_message("Where is A7?"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 0.0, 1.0)
    assert outcome.value == 2 / 3


def test_wrong_end_fails_the_last_turn():
    outcome = judge_pair(SIMULATOR(), CASE, TRACE, reject_message("</finished>"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (1.0, 1.0, 0.0)
    assert "turn 3: the conversation should not have ended here: why" in outcome.reason


def test_different_first_message_fails_without_a_judge():
    trace = Trace(id="t", turns=(Turn(user="Good day", response="Hi!"), *TRACE.turns[1:]))
    outcome = judge_pair(SIMULATOR(), CASE, trace, reject_message("nothing"))
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0, 1.0)
    assert "turn 1: the first message is not the scenario's" in outcome.reason


def test_stop_signal_is_a_parameter():
    ask = reject_message("nothing")
    judge = build(SIMULATOR.name, {"stop_signal": "BYE", "samples": 1}, {SIMULATOR.name: SIMULATOR})
    judge_pair(judge, CASE, TRACE, ask)
    assert message(ask.questions[-1]) == "BYE"


def test_case_without_a_scenario_is_unscored():
    outcome = judge_pair(SIMULATOR(), Case.of("Hello"), TRACE, reject_message("nothing"))
    assert outcome == Unscored(reason="the case has no scenario", not_applicable=True)


def test_failed_turn_fails_the_metric():
    late = Failed(kind="Timeout", message="late")
    ask = ScriptedAsk(lambda question: late if message(question) == "Thanks" else verdict(yes=True))
    assert judge_pair(SIMULATOR(), CASE, TRACE, ask) == Failed(
        kind="Timeout", message="turn 3: late"
    )
