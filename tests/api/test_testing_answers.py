from __future__ import annotations

import pytest

from carob.api.testing import as_trace
from carob.errors import UsageError
from carob.schema import Case, ToolCall, Trace, Turn

CASE = Case(id="refund", turns=(Turn(user="Hello"), Turn(user="I want my money back")))


def test_string_is_the_response_of_the_first_turn():
    trace = as_trace(CASE, "Hi!", "t")
    assert trace == Trace(id="t", case="refund", turns=(Turn(user="Hello", response="Hi!"),))


def test_list_has_a_reply_for_each_turn():
    trace = as_trace(CASE, ["Hi!", "Here it is.", "Bye."], "t")
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Hello", "Hi!"),
        ("I want my money back", "Here it is."),
        (None, "Bye."),
    ]


def test_dict_may_state_tool_calls_and_state():
    calls = [{"name": "refund", "args": {"order": 7}}, ToolCall(name="close", args={})]
    trace = as_trace(CASE, {"response": "Done.", "tool_calls": calls, "state": {"open": 0}}, "t")
    assert trace.turns[0].tool_calls == (
        ToolCall(name="refund", args={"order": 7}),
        ToolCall(name="close", args={}),
    )
    assert trace.state == {"open": 0}


def test_without_tool_calls_in_the_answer_none_are_recorded():
    assert as_trace(CASE, {"response": "Done."}, "t").turns[0].tool_calls is None


def test_trace_is_used_unchanged():
    trace = Trace(id="own")
    assert as_trace(CASE, trace, "t") is trace


@pytest.mark.parametrize("answer", [None, 7, b"text", [], [None], {1: 2}])
def test_anything_else_is_an_error(answer: object):
    with pytest.raises(UsageError, match=r"invalid answer|unknown field"):
        as_trace(CASE, answer, "t")  # pyright: ignore[reportArgumentType] - agents answer anything


def test_field_of_the_wrong_type_is_located():
    with pytest.raises(UsageError, match=r"'refund': Expected `str \| null`.*\$\.turns\[0\]"):
        as_trace(CASE, {"response": 7}, "t")
