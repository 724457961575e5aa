from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from karat.metrics.metric import Metric
from karat.metrics.needs import Need
from karat.schema import Case, Json, Score, Trace, Unscored

Interval: TypeAlias = tuple[int, int]
"""Start and end in nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class Latency(Metric):
    """Milliseconds from the start of the first turn to the end of the last.

    Details: `model_ms` in which any model call ran, `tool_ms` in which a tool ran and no model
    call did, `first_response_ms` until the first model call had answered. Calls that run side
    by side or within each other are not counted twice. The turns hold milliseconds too.
    """

    name: ClassVar[str] = "latency"
    version: ClassVar[int] = 1
    scale: ClassVar[tuple[float, float | None]] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("timing",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        total = trace.duration_ms
        if total is None:
            return Unscored(reason="timing was not recorded")
        if total < 0:
            return Unscored(reason="the recorded end is before the start")
        turns = tuple(
            None if turn.start is None or turn.end is None else (turn.end - turn.start) / 1e6
            for turn in trace.turns
        )
        return Score(value=total, turns=turns, details=_details(trace))


def covered(intervals: Iterable[Interval]) -> int:
    """How much time lies in any of the intervals."""
    time = 0
    reached: int | None = None
    for start, end in sorted(intervals):
        begin = start if reached is None else max(start, reached)
        if end > begin:
            time += end - begin
            reached = end
    return time


def _details(trace: Trace) -> dict[str, Json]:
    models = [_interval(call.start, call.end) for call in trace.model_calls]
    tools = [
        _interval(call.start, call.end) for turn in trace.turns for call in turn.tool_calls or ()
    ]
    model_times = [interval for interval in models if interval]
    tool_times = [interval for interval in tools if interval]
    details: dict[str, Json] = {}
    model_time = covered(model_times)
    if model_times:
        details["model_ms"] = model_time / 1e6
        starts = [turn.start for turn in trace.turns if turn.start is not None]
        details["first_response_ms"] = (min(end for _, end in model_times) - min(starts)) / 1e6
    if tool_times:
        details["tool_ms"] = (covered(model_times + tool_times) - model_time) / 1e6
    return details


def _interval(start: int | None, end: int | None) -> Interval | None:
    return None if start is None or end is None else (start, end)
