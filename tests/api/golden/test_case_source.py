"""The text of a case in an editor."""

from __future__ import annotations

import pytest

from carob.api.golden.case_source import TurnFields, edit_fields, format_case, read_case
from carob.errors import InputError
from carob.schema import Case, ToolCall, Turn


def golden() -> Case:
    call = ToolCall(name="find_order", args={"id": "GS-1"}, reason="the order decides")
    return Case(id="late", turns=(Turn(user="Where is it?", response="Here.", tool_calls=(call,)),))


def test_text_of_a_case_reads_back_as_the_same_case():
    parsed = read_case(format_case(golden()))
    assert parsed.case == golden()
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ('{\n  "id": "a",\n  "turns": 7\n}', "line 3", "Expected `array`, got `int`"),
        ('{\n  "id": "a",,\n  "turns": []\n}', "line 2", "JSON is malformed"),
        ('{\n  "id": "a",\n  "turns": [', "line 3", "the text ends too early"),
        ('{"turns": []}', "line 1", "missing required field `id`"),
        ("[]", "line 1", "Expected `object`, got `array`"),
    ],
)
def test_error_is_at_its_line(text: str, where: str, message: str):
    parsed = read_case(text)
    assert parsed.case is None
    (problem,) = parsed.problems
    assert problem.where == where
    assert message in problem.message


def test_personal_data_is_found_at_its_line():
    case = Case(id="a", turns=(Turn(user="Hi"), Turn(user="Mail mara.holt@example.org")))
    (problem,) = read_case(format_case(case)).problems
    line = format_case(case).splitlines().index('      "user": "Mail mara.holt@example.org"') + 1
    assert problem.where == f"line {line}"
    assert "email" in problem.message


def test_turn_without_a_user_message_is_named():
    (problem,) = read_case('{"id": "a", "turns": [{"user": "Hi"}, {"response": "Yes"}]}').problems
    assert problem.message == "turn 2 has no user message"


def test_fields_change_what_they_show_and_keep_the_rest():
    fields = TurnFields(
        "Where is it?", "There.", '[{"name": "find_order", "args": {"id": "GS-2"}}]'
    )
    edited = edit_fields(golden(), [fields], tags=["orders"], context=None)
    (turn,) = edited.turns
    assert turn.response == "There."
    assert turn.tool_calls == (
        ToolCall(name="find_order", args={"id": "GS-2"}, reason="the order decides"),
    )
    assert edited.tags == ("orders",)


def test_empty_field_of_calls_states_nothing_and_an_empty_list_states_none():
    nothing = edit_fields(golden(), [TurnFields("Hi", "", "")], tags=(), context=None)
    none = edit_fields(golden(), [TurnFields("Hi", "", "[]")], tags=(), context=None)
    assert nothing.turns[0].tool_calls is None
    assert none.turns[0].tool_calls == ()


def test_calls_that_are_not_calls_are_refused():
    with pytest.raises(InputError, match="tool calls cannot be read"):
        edit_fields(golden(), [TurnFields("Hi", "", '[{"args": 1}]')], tags=(), context=None)
