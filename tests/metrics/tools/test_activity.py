from __future__ import annotations

import pytest

from carob.metrics.tools.activity import SandboxUsage, ToolSuccess, ToolUtilization
from carob.metrics.tools.calls import NOT_RECORDED
from carob.schema import Case, Json, Score, ToolCall, ToolResult, Trace, Turn, Unscored

CASE = Case(id="c")


def trace(calls: tuple[ToolCall, ...] | None, *results: ToolResult) -> Trace:
    return Trace(id="t", turns=(Turn(tool_calls=calls, tool_results=results),))


def calls(*names: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, id=str(number)) for number, name in enumerate(names))


def test_calls_are_counted_by_tool():
    score = ToolUtilization().score(CASE, trace(calls("a", "b", "a")))
    assert score == Score(value=3.0, details={"unique": 2, "tools": {"a": 2, "b": 1}})


def test_sandbox_tools_are_counted():
    sandbox_trace = trace(calls("read_file", "search", "execute_code"))
    score = SandboxUsage().score(CASE, sandbox_trace)
    assert isinstance(score, Score)
    assert score == Score(value=2.0, details={"tools": {"read_file": 1, "execute_code": 1}})
    own = SandboxUsage(tools=("search",)).score(CASE, sandbox_trace)
    assert isinstance(own, Score)
    assert own.value == 1.0


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({"status": "error", "error_message": "no such city"}, True),
        ({"status": "Failed"}, True),
        (' {"status": "error"}', True),
        ('{"status": "ok"}', False),
        ("{not JSON", False),
        ({"error": "timeout"}, True),
        ({"isError": True, "content": []}, True),
        ("Error: not found", True),
        ({"error": None, "status": "ok"}, False),
        ({"status": "success", "errors": []}, False),
        ("An error budget of 2 % is left", False),
        (None, False),
        ([], False),
    ],
)
def test_error_results_are_recognized_by_their_shape(result: Json, failed: bool):
    score = ToolSuccess().score(CASE, trace(calls("f"), ToolResult(id="0", result=result)))
    assert isinstance(score, Score)
    assert score.value == (0.0 if failed else 1.0)


def test_recorded_errors_and_missing_results_are_named():
    good, bad = ToolResult(id="0"), ToolResult(id="1", error="refused")
    score = ToolSuccess().score(CASE, trace(calls("a", "b", "c"), good, bad))
    assert score == Score(
        value=pytest.approx(1 / 3),  # pyright: ignore[reportArgumentType] - stands for a float
        reason="b: refused; c: no result",
        details={"calls": 3, "failed": 2},
    )


def test_results_without_ids_belong_to_the_next_call_of_that_tool():
    tool_calls = (ToolCall(name="a"), ToolCall(name="b"))
    results = ToolResult(name="b", error="broken"), ToolResult(name="a")
    score = ToolSuccess().score(CASE, trace(tool_calls, *results))
    assert isinstance(score, Score)
    assert score.reason == "b: broken"


def test_recorded_outcome_of_a_call_decides():
    tool_calls = (ToolCall(name="a", outcome="relevant"), ToolCall(name="b", outcome="error"))
    score = ToolSuccess().score(CASE, trace(tool_calls))
    assert isinstance(score, Score)
    assert (score.value, score.reason) == (0.5, "b: outcome 'error'")


def test_calls_that_were_not_recorded_are_unscored():
    assert ToolSuccess().score(CASE, trace(())) == Unscored(
        reason="no tool was called", not_applicable=True
    )
    assert ToolSuccess().score(CASE, trace(calls("a"))) == Unscored(
        reason="tool results were not recorded"
    )
    for metric in (ToolUtilization(), SandboxUsage(), ToolSuccess()):
        assert metric.score(CASE, trace(None)) == Unscored(reason="tool calls were not recorded")


def test_turn_whose_calls_were_not_recorded_may_fail_but_not_pass():
    good, bad = ToolResult(id="0", result="ok"), ToolResult(id="0", error="refused")
    unknown = Turn(user="And then?")
    for result, outcome in (
        (good, NOT_RECORDED),
        (bad, Score(value=0.0, reason="a: refused", details={"calls": 1, "failed": 1})),
    ):
        turn = Turn(tool_calls=calls("a"), tool_results=(result,))
        assert ToolSuccess().score(CASE, Trace(id="t", turns=(turn, unknown))) == outcome


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"status": "error", "error_message": "no such city", "message": "x"}, "no such city"),
        ({"status": "error", "message": "try again"}, "try again"),
        ({"status": "Failed"}, "Failed"),
        ("ERROR: out of memory", "ERROR: out of memory"),
        ("Traceback (most recent call last)", "Traceback (most recent call last)"),
        ('{"error": "timeout"}', "timeout"),
    ],
)
def test_reason_says_what_the_tool_reported(result: Json, shown: str):
    score = ToolSuccess().score(CASE, trace(calls("f"), ToolResult(id="0", result=result)))
    assert isinstance(score, Score)
    assert score.value == 0.0
    assert shown in score.reason


def test_list_of_errors_in_a_text_is_no_error():
    result = ToolResult(id="0", result='[{"error": "timeout"}]')
    score = ToolSuccess().score(CASE, trace(calls("f"), result))
    assert isinstance(score, Score)
    assert score.value == 1.0
