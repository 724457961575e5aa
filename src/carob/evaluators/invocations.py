"""The documents of agentevals' protocol 1.1: turns of a case and of a trace as invocations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

import msgspec

from carob.schema import Case, Json, ToolResult, Trace, Turn

PROTOCOL_VERSION = "1.1"


def eval_input(
    name: str, threshold: float | None, config: dict[str, Json], case: Case, trace: Trace
) -> dict[str, Any]:
    """Return the input of an evaluator. Both lists are complete, also if their lengths differ."""
    performance = _performance(trace)
    span = trace.spans[0] if trace.spans else None
    return {
        "protocol_version": PROTOCOL_VERSION,
        "metric_name": name,
        "threshold": 0.5 if threshold is None else threshold,
        "config": config,
        "invocations": [
            {
                **_invocation(turn, index),
                "performance_metrics": performance,
                "trace_id": span.trace_id if span else trace.id,
                "span_id": turn.id,
            }
            for index, turn in enumerate(trace.turns)
        ],
        # A trace without golden data has a case without turns: nothing was expected of it.
        "expected_invocations": [_invocation(turn, index) for index, turn in enumerate(case.turns)]
        if case.turns
        else None,
    }


def _invocation(turn: Turn, index: int) -> dict[str, Any]:
    return {
        "invocation_id": turn.id or f"turn-{index + 1}",
        "user_content": turn.user or "",
        "final_response": turn.response,
        "intermediate_steps": {
            "tool_calls": [
                {"name": call.name, "args": call.args or {}, "id": call.id}
                for call in turn.tool_calls or ()
            ],
            "tool_responses": [_tool_response(result) for result in turn.tool_results],
        },
    }


def _tool_response(result: ToolResult) -> dict[str, Any]:
    value = result.result if result.error is None else {"error": result.error}
    return {
        "name": result.name or "",
        "output": msgspec.json.encode(value).decode(),
        "status": None if result.error is None else "error",
        "id": result.id,
        "response": value,
    }


def _performance(trace: Trace) -> dict[str, Any]:
    calls, usage = trace.model_calls, trace.usage
    tools = [call for turn in trace.turns for call in turn.tool_calls or ()]
    total = usage.total_tokens
    if total is None and usage.input_tokens is not None and usage.output_tokens is not None:
        total = usage.input_tokens + usage.output_tokens
    per_call = [call.usage.total_tokens for call in calls]
    return {
        "latency": {
            "overall": _statistics(_durations(trace.turns)),
            "llm_calls": _statistics(_durations(calls)),
            "tool_executions": _statistics(_durations(tools)),
        },
        "tokens": {
            "total_prompt": usage.input_tokens,
            "total_output": usage.output_tokens,
            "total": total,
            "per_llm_call": _statistics([float(count) for count in per_call if count is not None]),
            "cache_creation_tokens": usage.cache_write_tokens,
            "cache_read_tokens": usage.cached_tokens,
        },
        "counts": {
            "llm_calls": len(calls),
            "tool_calls": len(tools),
            "invocations": len(trace.turns),
        },
        "models": [*trace.models],
        "tool_names": [*dict.fromkeys(call.name for call in tools)],
    }


def _durations(items: Iterable[object]) -> list[float]:
    """The durations of turns or calls in milliseconds, as far as they were recorded."""
    spans = [(getattr(item, "start", None), getattr(item, "end", None)) for item in items]
    return [(end - start) / 1e6 for start, end in spans if start is not None and end is not None]


def _statistics(values: Sequence[float]) -> dict[str, Any]:
    if not values:
        return {"count": 0}
    ordered = sorted(values)

    def rank(share: float) -> float:
        return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]

    return {
        "min": ordered[0],
        "median": median(ordered),
        "max": ordered[-1],
        "count": len(ordered),
        "p50": median(ordered),
        "p95": rank(0.95),
        "p99": rank(0.99),
    }
