"""What evaluators receive of a pair: the line of Carob's own protocol, and the arguments that
promptfoo passes to assertions and ADK to custom metric functions.

A line is `{"v": 1, "metric", "config", "user", "response", "expected", "case", "trace"}`; the
answer is `{"score": 0..1, "reason"}`, `{"unscored": reason}` or `{"error": message}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from carob.schema import Case, Json, Span, Trace, Turn

_STATUS = {"unset": 0, "ok": 1, "error": 2}


def line_input(name: str, config: dict[str, Json], case: Case, trace: Trace) -> dict[str, Any]:
    """Return the line of a pair. The texts of the last turn are repeated at the top, so that a
    short script need not look for them."""
    turn = trace.turns[-1] if trace.turns else None
    expected = case.turns[-1] if case.turns else None
    # Without the documents that both were read from, which repeat them.
    slim_case = msgspec.structs.replace(case, origin=None, recorded=None)
    slim_trace = msgspec.structs.replace(trace, spans=())
    return {
        "v": 1,
        "metric": name,
        "config": config,
        "user": turn.user if turn else None,
        "response": turn.response if turn else None,
        "expected": expected.response if expected else None,
        "case": msgspec.to_builtins(slim_case),
        "trace": msgspec.to_builtins(slim_trace),
    }


def assertion_input(config: dict[str, Json], case: Case, trace: Trace) -> dict[str, Any]:
    """Return the arguments of an assertion."""
    turn = trace.turns[-1] if trace.turns else None
    prompt = turn.user if turn else None
    doc = case.origin.doc if case.origin and case.origin.format.startswith("promptfoo") else None
    test = dict(doc) if isinstance(doc, Mapping) else {}
    variables = test.get("vars")
    if not isinstance(variables, dict):
        variables = {"prompt": prompt}
    usage = trace.usage
    return {
        "output": (turn.response if turn else None) or "",
        "context": {
            "prompt": prompt,
            "vars": variables,
            "test": test or {"vars": variables, "description": case.id},
            "logProbs": None,
            "config": config,
            "provider": {"id": trace.models[0] if trace.models else None},
            "providerResponse": {
                "output": turn.response if turn else None,
                "tokenUsage": {
                    "prompt": usage.input_tokens,
                    "completion": usage.output_tokens,
                    "total": usage.total_tokens,
                },
            },
            "trace": {
                "traceId": trace.spans[0].trace_id if trace.spans else trace.id,
                "spans": [_span(span) for span in trace.spans],
            },
            "metadata": dict(case.metadata),
        },
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "startTime": None if span.start is None else span.start / 1e6,
        "endTime": None if span.end is None else span.end / 1e6,
        "attributes": span.attributes,
        "statusCode": _STATUS[span.status],
    }


def adk_input(name: str, threshold: float | None, case: Case, trace: Trace) -> dict[str, Any]:
    """Return the arguments of a custom metric function. ADK passes no threshold to it."""
    return {
        "metric": {"metricName": name, "threshold": threshold},
        "actual": [_adk_invocation(turn, index) for index, turn in enumerate(trace.turns)],
        "expected": [_adk_invocation(turn, index) for index, turn in enumerate(case.turns)]
        if case.turns
        else None,
    }


def _adk_invocation(turn: Turn, index: int) -> dict[str, Any]:
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
