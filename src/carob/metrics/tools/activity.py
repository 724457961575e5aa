"""Metrics of tool use that need no expectation: counts and success rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from carob.metrics.metric import Metric
from carob.metrics.needs import Need, missing_data
from carob.metrics.tools.calls import (
    NOT_RECORDED,
    calls_with_results,
    format_value,
    recorded_calls,
)
from carob.schema import Case, Json, Score, ToolCall, ToolResult, Trace, Unscored
from carob.schema.outcome import Scale

_ERROR_KEYS = (
    "error",
    "error_message",
    "errorMessage",
    "exception",
    "traceback",
    "isError",
    "is_error",
)
_ERROR_STATES = frozenset({"error", "failed", "failure", "exception", "timeout"})


@dataclass(frozen=True, kw_only=True)
class ToolUtilization(Metric):
    """Number of tool calls. The details count them by tool."""

    name: ClassVar[str] = "tool_utilization"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = recorded_calls(trace)
        if calls is None or not trace.turns:
            return NOT_RECORDED
        counts: dict[str, Json] = {**Counter(call.name for call in calls)}
        return Score(value=float(len(calls)), details={"unique": len(counts), "tools": counts})


@dataclass(frozen=True, kw_only=True)
class ToolSuccess(Metric):
    """Share of the tool calls that succeeded.

    (calls - failed calls) / calls. A call failed if its result is marked as an error or looks like
    one (`status: error`, an error key, a text that starts with `Error:`), if its recorded outcome
    is a failure, or if it has no result although results were recorded.
    """

    name: ClassVar[str] = "tool_success_rate"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_results")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        missing = missing_data(self, trace)
        if missing:
            return Unscored(reason=missing)
        failures: list[str] = []
        count = 0
        for turn in trace.turns:
            for call, result in calls_with_results(turn):
                count += 1
                failure = _failure(call, result)
                if failure:
                    failures.append(f"{call.name}: {failure}")
        # A turn whose calls were not recorded cannot undo a failure, but it may hide one.
        if not failures and recorded_calls(trace) is None:
            return NOT_RECORDED
        if not count:
            return Unscored(reason="no tool was called", not_applicable=True)
        return Score(
            value=(count - len(failures)) / count,
            reason="; ".join(failures),
            details={"calls": count, "failed": len(failures)},
        )


@dataclass(frozen=True, kw_only=True)
class SandboxUsage(Metric):
    """Number of tool calls that read or wrote files or ran code.

    `tools` lists the names of those tools.
    """

    name: ClassVar[str] = "sandbox_usage"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls",)

    tools: tuple[str, ...] = (
        "save_artifact",
        "load_artifact",
        "read_file",
        "write_file",
        "run_python_script",
        "execute_code",
        "save_to_file",
        "read_from_file",
    )

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = recorded_calls(trace)
        if calls is None or not trace.turns:
            return NOT_RECORDED
        counts = Counter(call.name for call in calls if call.name in self.tools)
        return Score(value=float(counts.total()), details={"tools": {**counts}})


def _failure(call: ToolCall, result: ToolResult | None) -> str | None:
    if call.outcome is not None and call.outcome.casefold() in _ERROR_STATES:
        return f"outcome {call.outcome!r}"
    if result is None:
        return None if call.outcome is not None else "no result"
    return result.error or _error_in(result.result)


def _error_in(result: Json) -> str | None:
    if isinstance(result, str):
        if result.lstrip().startswith("{"):  # some frameworks record results as JSON text
            return _error_in(_decode(result))
        return (
            format_value(result) if result.startswith(("Error:", "ERROR:", "Traceback (")) else None
        )
    if not isinstance(result, Mapping):
        return None
    status = result.get("status")
    if isinstance(status, str) and status.casefold() in _ERROR_STATES:
        return format_value(result.get("error_message") or result.get("message") or status)
    return next((format_value(result[key]) for key in _ERROR_KEYS if result.get(key)), None)


def _decode(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
