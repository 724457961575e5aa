from __future__ import annotations

from typing import Any

import msgspec
import pytest

from carob.errors import UsageError
from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.properties import PropertyJudge
from carob.metrics import build
from carob.schema import Case, Failed, Rubric, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted_ask import (
    ScriptedAsk,
    answer_in_order,
    details,
    judge_pair,
    verdict,
    verdicts,
)

QUALITY = builtin_metric("rubric_based_final_response_quality_v1")
TOOLS = builtin_metric("rubric_based_tool_use_quality_v1")
TRAJECTORY = builtin_metric("rubric_based_multi_turn_trajectory_quality_v1")

SHORT = Rubric(id="short", text="The response is short.", type="FINAL_RESPONSE_QUALITY")
LOOKS_UP = Rubric(id="looks_up", text="The order is looked up.", type="TOOL_USE_QUALITY")
POLITE = Rubric(id="polite", text="The response is polite.")


def build_judge(kind: type[Any] = QUALITY, **params: object) -> PropertyJudge:
    built = build(kind.name, params, {kind.name: kind})  # pyright: ignore[reportArgumentType] - JSON
    assert isinstance(built, PropertyJudge)
    return built


def case(*of_turns: tuple[Rubric, ...], shared: tuple[Rubric, ...] = ()) -> Case:
    turns = tuple(Turn(user=f"u{n}", rubrics=rubrics) for n, rubrics in enumerate(of_turns))
    return Case(id="c", turns=turns, rubrics=shared)


def trace(count: int) -> Trace:
    return Trace(id="t", turns=tuple(Turn(user=f"u{n}", response=f"r{n}") for n in range(count)))


def asked_properties(ask: ScriptedAsk) -> list[list[str]]:
    """The properties of each question."""
    return [[*question.answer.__struct_fields__] for question in ask.questions]


def test_score_is_the_mean_over_all_rubrics_not_over_turns():
    data = case((SHORT,), (), shared=(POLITE,))
    answers = {"r0": verdicts(False, False), "r1": verdicts(True)}
    ask = ScriptedAsk(lambda question: answers["r1" if "r1\n" in question.prompt else "r0"])
    outcome = judge_pair(build_judge(samples=1), data, trace(2), ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0)
    assert outcome.value == 1 / 3
    assert outcome.reason == "turn 1: not met: polite: why 1; short: why 2"


def test_majority_decides_each_rubric_and_a_tie_fails():
    answers = [
        verdicts(True, True),
        verdicts(False, True),
        verdicts(True, False),
        verdicts(False, True),
    ]
    outcome = judge_pair(
        build_judge(samples=4, rubrics=["a", "b"]), case(()), trace(1), answer_in_order(answers)
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5
    rows = details(outcome, "rubrics")
    assert [(row["id"], row["verdict"]) for row in rows] == [
        ("rubric_0", "no"),
        ("rubric_1", "yes"),
    ]
    assert rows[0]["votes"] == [True, False, True, False]
    assert outcome.details["agreement"] == (0.5 + 0.75) / 2
    assert details(outcome, "samples")[1] == {"verdicts": {"rubric_0": "no", "rubric_1": "yes"}}


def test_rubrics_come_from_settings_case_and_turn_if_their_type_matches():
    ask = ScriptedAsk(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    data = case((SHORT, LOOKS_UP), shared=(POLITE,))
    outcome = judge_pair(build_judge(samples=1, rubrics=["Own words"]), data, trace(1), ask)
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert [row["id"] for row in rows] == ["rubric_0", "polite", "short"]
    assert "The order is looked up." not in ask.questions[0].prompt


def test_rubrics_of_earlier_turns_apply_to_the_conversation():
    ask = ScriptedAsk(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    early = Rubric(id="early", text="Greets first.", type="TRAJECTORY_QUALITY")
    outcome = judge_pair(
        build_judge(TRAJECTORY, samples=1), case((early,), (POLITE,)), trace(2), ask
    )
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert [row["id"] for row in rows] == ["early", "polite"]
    assert outcome.turns == ()


def test_duplicate_rubric_is_asked_once_and_a_reworded_one_separately():
    ask = ScriptedAsk(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    reworded = msgspec.structs.replace(POLITE, text="Says please.")
    judge_pair(build_judge(samples=1), case((POLITE, reworded), shared=(POLITE,)), trace(1), ask)
    assert asked_properties(ask) == [["property_1", "property_2"]]


def test_many_rubrics_are_split_into_several_questions():
    ask = ScriptedAsk(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    outcome = judge_pair(
        build_judge(samples=1, rubrics=[f"p{n}" for n in range(23)]), case(()), trace(1), ask
    )
    assert isinstance(outcome, Score)
    assert [len(properties) for properties in asked_properties(ask)] == [10, 10, 3]
    rows = details(outcome, "rubrics")
    assert len(rows) == 23


def test_answer_without_every_rubric_is_invalid():
    with pytest.raises(msgspec.ValidationError):
        judge_pair(
            build_judge(samples=1, rubrics=["a", "b"]),
            case(()),
            trace(1),
            answer_in_order([verdicts(True)]),
        )


def test_failed_sample_does_not_void_the_turn():
    answers = [Failed(kind="Timeout", message="late"), verdicts(True), verdicts(True)]
    outcome = judge_pair(
        build_judge(samples=3, rubrics=["a"]), case(()), trace(1), answer_in_order(answers)
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0


def test_without_rubrics_there_is_no_score():
    outcome = judge_pair(build_judge(), case(()), trace(1), answer_in_order([]))
    assert outcome == Unscored(
        reason="neither the case nor the settings have rubrics", not_applicable=True
    )


def test_too_many_rubrics_are_unscored():
    outcome = judge_pair(
        build_judge(rubrics=[f"p{n}" for n in range(101)]), case(()), trace(1), answer_in_order([])
    )
    assert outcome == Unscored(reason="too many rubrics: 101, at most 100")


@pytest.mark.parametrize(
    "rubric",
    [
        {"id": "r", "text": "It is short."},
        {"rubric_id": "r", "rubric_content": {"text_property": "It is short."}},
        {"rubricId": "r", "rubricContent": {"textProperty": "It is short."}, "description": "d"},
    ],
)
def test_rubrics_accept_the_notation_of_adk(rubric: dict[str, object]):
    outcome = judge_pair(
        build_judge(samples=1, rubrics=[rubric]),
        case(()),
        trace(1),
        answer_in_order([verdicts(True)]),
    )
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert (rows[0]["id"], rows[0]["text"]) == ("r", "It is short.")


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        (3, "rubrics[0]: expected a text or an object, got 3"),
        ({"id": "r"}, "rubrics[0]: missing 'text' or 'rubric_content.text_property'"),
        ({"id": 3, "text": "t"}, "rubrics[0].id: expected a non-empty text, got 3"),
        ("  ", "rubrics[0]: expected a non-empty text, got '  '"),
        ({"text": "t", "type": 1}, "rubrics[0].type: expected text, got 1"),
    ],
)
def test_invalid_rubric_is_an_error_before_anything_runs(rubric: object, message: str):
    with pytest.raises(UsageError) as caught:
        build_judge(rubrics=[rubric])
    assert message in caught.value.message


def test_rubrics_of_the_settings_are_part_of_the_digest():
    assert (
        build_judge(rubrics=["a"]).rubric
        != build_judge(rubrics=["b"]).rubric
        != build_judge().rubric
    )
    assert build_judge(rubrics=["a"]).prompt == build_judge(rubrics=["b"]).prompt


def test_tool_use_is_unscored_where_tool_calls_were_not_recorded():
    outcome = judge_pair(build_judge(TOOLS, rubrics=["a"]), case(()), trace(1), answer_in_order([]))
    assert outcome == Unscored(reason="tool calls were not recorded")
