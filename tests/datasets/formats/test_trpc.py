"""Tests of evalsets and results of tRPC-agent-go."""

from __future__ import annotations

from carob.datasets.formats.adk_history import AdkHistoryFormat
from carob.datasets.formats.trpc import TrpcFormat
from carob.schema import Json, ToolCall, ToolResult

FORECAST: Json = {"city": "Ghent", "sky": "rain"}
TOOLS: Json = [{"id": "t1", "name": "forecast", "arguments": {"city": "Ghent"}, "result": FORECAST}]
CALLS = (ToolCall(name="forecast", args={"city": "Ghent"}, id="t1"),)
RESULTS = (ToolResult(name="forecast", id="t1", result=FORECAST),)


def invocation(number: str, answer: str) -> Json:
    return {
        "invocationId": number,
        "userContent": {"role": "user", "content": "Will it rain in Ghent?"},
        "finalResponse": {"role": "assistant", "content": answer},
        "tools": TOOLS,
    }


def test_results_of_tools_are_read():
    doc: Json = {"evalId": "rain", "conversation": [invocation("i1", "Yes.")]}
    (turn,) = TrpcFormat().cases("document").read(doc).turns
    assert (turn.tool_calls, turn.tool_results) == (CALLS, RESULTS)


def test_expected_and_actual_invocations_of_a_result_are_read():
    doc: Json = {
        "evalId": "rain",
        "finalEvalStatus": "passed",
        "sessionId": "s1",
        "evalMetricResultPerInvocation": [
            {
                "expectedInvocation": invocation("i1", "Yes."),
                "actualInvocation": invocation("a1", "It will rain."),
            }
        ],
    }
    case = AdkHistoryFormat().cases("document").read(doc)
    (expected,) = case.turns
    assert (expected.user, expected.response) == ("Will it rain in Ghent?", "Yes.")
    assert (expected.tool_calls, expected.tool_results) == (CALLS, RESULTS)
    assert case.recorded
    (actual,) = case.recorded.turns
    assert (actual.user, actual.response) == ("Will it rain in Ghent?", "It will rain.")
    assert (actual.tool_calls, actual.tool_results) == (CALLS, RESULTS)
