from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from carob.metrics import Metric, Need, Outcome, missing_data
from carob.metrics.tools.accuracy import ToolUsage
from carob.metrics.tools.trajectory import ToolTrajectory
from carob.schema import (
    Case,
    ModelCall,
    Score,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    Unscored,
    Usage,
)

FULL = Trace(
    id="t",
    state={},
    turns=(
        Turn(
            user="hi",
            response="hello",
            tool_calls=(ToolCall(name="f"),),
            tool_results=(ToolResult(name="f"),),
            agents=("a",),
            grounding=(),
            model_calls=(ModelCall(model="m", usage=Usage(input_tokens=1)),),
            start=0,
            end=1,
        ),
    ),
)
TRACE_SIDE: tuple[Need, ...] = (
    "user",
    "response",
    "tool_calls",
    "agents",
    "state",
    "usage",
    "models",
    "timing",
    "grounding",
)


def needing(*words: Need) -> Metric:
    @dataclass(frozen=True, kw_only=True)
    class Needy(Metric):
        name: ClassVar[str] = "needy"
        version: ClassVar[int] = 1
        needs: ClassVar[tuple[Need, ...]] = words

        def score(self, case: Case, trace: Trace) -> Outcome:
            return Unscored(reason="never asked")

    return Needy()


@pytest.mark.parametrize("need", TRACE_SIDE)
def test_each_need_is_met_by_a_full_trace_and_not_by_an_empty_one(need: Need):
    assert missing_data(needing(need), FULL) is None
    assert "recorded" in (missing_data(needing(need), Trace(id="t", turns=(Turn(),))) or "")


def test_needs_of_the_case_are_not_missing_from_the_trace():
    assert missing_data(needing("case.response"), Trace(id="t")) is None


def test_first_unmet_need_is_reported():
    assert (
        missing_data(needing("state", "user"), Trace(id="t"))
        == "the session state was not recorded"
    )


def test_results_are_missing_only_where_a_tool_was_called():
    trace_with_call = Trace(id="t", turns=(Turn(tool_calls=(ToolCall(name="f"),)),))
    assert (
        missing_data(needing("tool_results"), trace_with_call) == "tool results were not recorded"
    )
    assert (
        missing_data(needing("tool_results"), Trace(id="t", turns=(Turn(tool_calls=()),))) is None
    )


def test_needs_can_be_checked_on_the_class():
    assert missing_data(type(needing("user")), Trace(id="t")) == "no user message was recorded"


def test_trace_without_content_has_no_arguments_to_compare():
    calls = (ToolCall(name="find_order"),)
    bare = Trace(id="t", turns=(Turn(tool_calls=calls),))
    case = Case(id="c", turns=(Turn(tool_calls=(ToolCall(name="find_order", args={"id": 7}),)),))
    why = "the arguments of tool calls were not recorded"
    assert missing_data(ToolTrajectory(), bare) == missing_data(ToolUsage(), bare) == why
    assert ToolTrajectory().score(case, bare) == ToolUsage().score(case, bare) == Unscored(why)
    assert ToolTrajectory(ignore_args=True).score(case, bare) == Score(value=1.0, turns=(1.0,))


def test_call_without_arguments_is_compared_if_those_of_other_calls_were_recorded():
    expected = ToolCall(name="find_order", args={"id": 7})
    case = Case(id="c", turns=(Turn(tool_calls=(expected, expected)),))
    bare = ToolCall(name="find_order")
    mixed = Trace(id="t", turns=(Turn(user="Hi", tool_calls=(bare, expected)),))
    score = ToolTrajectory().score(case, mixed)
    assert isinstance(score, Score)
    assert score.value == 0.0
    text_only = Trace(id="t", turns=(Turn(user="Hi", tool_calls=(bare, bare)),))
    assert isinstance(ToolTrajectory().score(case, text_only), Unscored)
