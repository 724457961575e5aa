from __future__ import annotations

from typing import Any

import msgspec
import pytest

from carob.errors import UsageError
from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.properties import PropertyJudge
from carob.metrics import build
from carob.schema import Case, Failed, Rubric, Score, Trace, Turn, Unscored
from tests.judges.rubrics.scripted import Scripted, details, in_turn, judged, verdict, verdicts

QUALITY = builtin_metric("rubric_based_final_response_quality_v1")
TOOLS = builtin_metric("rubric_based_tool_use_quality_v1")
WHOLE = builtin_metric("rubric_based_multi_turn_trajectory_quality_v1")

SHORT = Rubric(id="short", text="The response is short.", type="FINAL_RESPONSE_QUALITY")
LOOKS_UP = Rubric(id="looks_up", text="The order is looked up.", type="TOOL_USE_QUALITY")
POLITE = Rubric(id="polite", text="The response is polite.")


def made(kind: type[Any] = QUALITY, **params: object) -> PropertyJudge:
    built = build(kind.name, params, {kind.name: kind})  # pyright: ignore[reportArgumentType] - JSON
    assert isinstance(built, PropertyJudge)
    return built


def case(*of_turns: tuple[Rubric, ...], whole: tuple[Rubric, ...] = ()) -> Case:
    turns = tuple(Turn(user=f"u{n}", rubrics=found) for n, found in enumerate(of_turns))
    return Case(id="c", turns=turns, rubrics=whole)


def trace(count: int) -> Trace:
    return Trace(id="t", turns=tuple(Turn(user=f"u{n}", response=f"r{n}") for n in range(count)))


def asked(ask: Scripted) -> list[list[str]]:
    """The properties of each question."""
    return [[*question.answer.__struct_fields__] for question in ask.questions]


def test_score_is_the_mean_over_all_rubrics_of_all_turns_and_not_of_the_turns():
    data = case((SHORT,), (), whole=(POLITE,))
    said = {"r0": verdicts(False, False), "r1": verdicts(True)}
    ask = Scripted(lambda question: said["r1" if "r1\n" in question.prompt else "r0"])
    outcome = judged(made(samples=1), data, trace(2), ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0)
    assert outcome.value == 1 / 3
    assert outcome.reason == "turn 1: not met: polite: why 1; short: why 2"


def test_majority_counts_rubric_by_rubric_and_a_tie_loses():
    said = [
        verdicts(True, True),
        verdicts(False, True),
        verdicts(True, False),
        verdicts(False, True),
    ]
    outcome = judged(made(samples=4, rubrics=["a", "b"]), case(()), trace(1), in_turn(said))
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


def test_rubrics_come_from_settings_the_case_and_its_turn_and_those_of_another_type_do_not():
    ask = Scripted(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    data = case((SHORT, LOOKS_UP), whole=(POLITE,))
    outcome = judged(made(samples=1, rubrics=["Own words"]), data, trace(1), ask)
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert [row["id"] for row in rows] == ["rubric_0", "polite", "short"]
    assert "The order is looked up." not in ask.questions[0].prompt


def test_rubrics_of_earlier_turns_are_kept_for_the_whole_conversation():
    ask = Scripted(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    early = Rubric(id="early", text="Greets first.", type="TRAJECTORY_QUALITY")
    outcome = judged(made(WHOLE, samples=1), case((early,), (POLITE,)), trace(2), ask)
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert [row["id"] for row in rows] == ["early", "polite"]
    assert outcome.turns == ()


def test_rubric_that_is_named_twice_is_asked_once_and_one_with_other_words_is_another():
    ask = Scripted(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    other = msgspec.structs.replace(POLITE, text="Says please.")
    judged(made(samples=1), case((POLITE, other), whole=(POLITE,)), trace(1), ask)
    assert asked(ask) == [["property_1", "property_2"]]


def test_many_rubrics_are_asked_about_in_parts():
    ask = Scripted(
        lambda question: dict.fromkeys(question.answer.__struct_fields__, verdict(yes=True))
    )
    outcome = judged(made(samples=1, rubrics=[f"p{n}" for n in range(23)]), case(()), trace(1), ask)
    assert isinstance(outcome, Score)
    assert [len(one) for one in asked(ask)] == [10, 10, 3]
    rows = details(outcome, "rubrics")
    assert len(rows) == 23


def test_answer_that_leaves_a_rubric_out_is_no_answer():
    with pytest.raises(msgspec.ValidationError):
        judged(made(samples=1, rubrics=["a", "b"]), case(()), trace(1), in_turn([verdicts(True)]))


def test_failed_sample_does_not_void_the_turn():
    said = [Failed(kind="Timeout", message="late"), verdicts(True), verdicts(True)]
    outcome = judged(made(samples=3, rubrics=["a"]), case(()), trace(1), in_turn(said))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0


def test_without_rubrics_there_is_no_score():
    outcome = judged(made(), case(()), trace(1), in_turn([]))
    assert outcome == Unscored(
        reason="neither the case nor the settings have rubrics", not_applicable=True
    )


def test_too_many_rubrics_are_not_asked():
    outcome = judged(made(rubrics=[f"p{n}" for n in range(101)]), case(()), trace(1), in_turn([]))
    assert outcome == Unscored(reason="too many rubrics: 101, at most 100")


@pytest.mark.parametrize(
    "written",
    [
        {"id": "r", "text": "It is short."},
        {"rubric_id": "r", "rubric_content": {"text_property": "It is short."}},
        {"rubricId": "r", "rubricContent": {"textProperty": "It is short."}, "description": "d"},
    ],
)
def test_rubrics_may_be_written_as_adk_writes_them(written: dict[str, object]):
    outcome = judged(
        made(samples=1, rubrics=[written]), case(()), trace(1), in_turn([verdicts(True)])
    )
    assert isinstance(outcome, Score)
    rows = details(outcome, "rubrics")
    assert (rows[0]["id"], rows[0]["text"]) == ("r", "It is short.")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (3, "rubrics[0]: expected a text or an object, got 3"),
        ({"id": "r"}, "rubrics[0]: missing 'text' or 'rubric_content.text_property'"),
        ({"id": 3, "text": "t"}, "rubrics[0].id: expected a non-empty text, got 3"),
        ("  ", "rubrics[0]: expected a non-empty text, got '  '"),
        ({"text": "t", "type": 1}, "rubrics[0].type: expected text, got 1"),
    ],
)
def test_invalid_rubric_is_an_error_before_anything_runs(written: object, message: str):
    with pytest.raises(UsageError) as caught:
        made(rubrics=[written])
    assert message in caught.value.message


def test_rubrics_of_the_settings_are_part_of_the_rubric():
    assert made(rubrics=["a"]).rubric != made(rubrics=["b"]).rubric != made().rubric
    assert made(rubrics=["a"]).prompt == made(rubrics=["b"]).prompt


def test_tool_use_is_unscored_where_tool_calls_were_not_recorded():
    outcome = judged(made(TOOLS, rubrics=["a"]), case(()), trace(1), in_turn([]))
    assert outcome == Unscored(reason="tool calls were not recorded")
