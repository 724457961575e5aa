"""Metrics of how tools were used, whatever was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import msgspec

from carob.metrics.calls import recorded, value
from carob.metrics.metric import Metric
from carob.metrics.needs import Need, missing
from carob.schema import Case, Json, Score, ToolCall, ToolResult, Trace, Turn, Unscored
from carob.schema.scale import Scale

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
    """How many tool calls were made; the details count them by tool."""

    name: ClassVar[str] = "tool_utilization"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = recorded(trace)
        if calls is None or not trace.turns:
            return Unscored(reason="tool calls were not recorded")
        counts: dict[str, Json] = {**Counter(call.name for call in calls)}
        return Score(value=float(len(calls)), details={"unique": len(counts), "tools": counts})


@dataclass(frozen=True, kw_only=True)
class ToolSuccess(Metric):
    """Share of the tool calls that went well.

    (calls - failed calls) / calls. A call failed if its result carries an error, is an error by its
    shape (`status: error`, an error key, an `Error:` text), its outcome says so, or if it has
    no result although others have.
    """

    name: ClassVar[str] = "tool_success_rate"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_results")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        lack = missing(self, trace)
        if lack:
            return Unscored(reason=lack)
        wrong: list[str] = []
        count = 0
        for turn in trace.turns:
            for call, result in answered(turn):
                count += 1
                failure = _failure(call, result)
                if failure:
                    wrong.append(f"{call.name}: {failure}")
        if not count:
            return Unscored(reason="no tool was called")
        return Score(
            value=(count - len(wrong)) / count,
            reason="; ".join(wrong),
            details={"calls": count, "failed": len(wrong)},
        )


@dataclass(frozen=True, kw_only=True)
class SandboxUsage(Metric):
    """How many tool calls worked with files or ran code; `tools` names those tools."""

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
        calls = recorded(trace)
        if calls is None or not trace.turns:
            return Unscored(reason="tool calls were not recorded")
        counts = Counter(call.name for call in calls if call.name in self.tools)
        return Score(value=float(counts.total()), details={"tools": {**counts}})


def answered(turn: Turn) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Each call with its result: by id, else the next unused one of that tool."""
    by_id = {result.id: result for result in turn.tool_results if result.id is not None}
    rest = [result for result in turn.tool_results if result.id is None]
    for call in turn.tool_calls or ():
        result = by_id.get(call.id) if call.id is not None else None
        if result is None:
            result = next((other for other in rest if other.name in (None, call.name)), None)
            if result is not None:
                rest.remove(result)
        yield call, result


def _failure(call: ToolCall, result: ToolResult | None) -> str | None:
    if call.outcome is not None and call.outcome.casefold() in _ERROR_STATES:
        return f"outcome {call.outcome!r}"
    if result is None:
        return None if call.outcome is not None else "no result"
    return result.error or _error_shape(result.result)


def _error_shape(result: Json) -> str | None:
    if isinstance(result, str):
        if result.lstrip().startswith("{"):  # an object that a recorder wrote down as a text
            return _error_shape(_object(result))
        return value(result) if result.startswith(("Error:", "ERROR:", "Traceback (")) else None
    if not isinstance(result, Mapping):
        return None
    status = result.get("status")
    if isinstance(status, str) and status.casefold() in _ERROR_STATES:
        return value(result.get("error_message") or result.get("message") or status)
    return next((value(result[key]) for key in _ERROR_KEYS if result.get(key)), None)


def _object(text: str) -> Json:
    try:
        found: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
