"""What ADK passes to custom metric functions: the metric, and both conversations as invocations."""

from __future__ import annotations

from typing import Any

from carob.schema import Case, Trace, Turn


def adk_input(name: str, threshold: float | None, case: Case, trace: Trace) -> dict[str, Any]:
    """Return the arguments of a custom metric function. ADK passes no threshold to it."""
    return {
        "metric": {"metricName": name, "threshold": threshold},
        "actual": [_invocation(turn, index) for index, turn in enumerate(trace.turns)],
        "expected": [_invocation(turn, index) for index, turn in enumerate(case.turns)]
        if case.turns
        else None,
    }


def _invocation(turn: Turn, index: int) -> dict[str, Any]:
    return {
        "invocationId": turn.id or f"turn-{index + 1}",
        "userContent": {"role": "user", "parts": [{"text": turn.user or ""}]},
        "finalResponse": None
        if turn.response is None
        else {"role": "model", "parts": [{"text": turn.response}]},
        "intermediateData": {
            "toolUses": [
                {"name": call.name, "args": call.args or {}, "id": call.id}
                for call in turn.tool_calls or ()
            ],
            "toolResponses": [
                {
                    "name": result.name or "",
                    "id": result.id,
                    "response": result.result
                    if isinstance(result.result, dict) and result.error is None
                    else {"error": result.error}
                    if result.error is not None
                    else {"result": result.result},
                }
                for result in turn.tool_results
            ],
            "intermediateResponses": [
                [message.agent, [{"text": message.text}]] for message in turn.messages
            ],
        },
    }
