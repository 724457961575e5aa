"""The `latency` metric."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import ClassVar, Literal, TypeAlias

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Json, Score, Trace, Unscored
from carob.schema.outcome import Scale

Interval: TypeAlias = tuple[int, int]
"""Start and end in nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class Latency(Metric):
    """Milliseconds from the start of the first turn to the end of the last.

    Details: `model_ms` is the time in model calls, `tool_ms` the time in tools, and
    `first_response_ms` the time until the first model call answered. No moment is counted twice:
    it belongs to the innermost call, so a tool that runs within a model call counts as tool time,
    and a model call within a tool as model time.
    """

    name: ClassVar[str] = "latency"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("timing",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        total = measured_ms(trace)
        if isinstance(total, Unscored):
            return total
        turns = tuple(
            None if turn.start is None or turn.end is None else (turn.end - turn.start) / 1e6
            for turn in trace.turns
        )
        return Score(value=total, turns=turns, details=_details(trace))


def measured_ms(trace: Trace) -> float | Unscored:
    """Return the milliseconds that a trace took. Clocks can be wrong: a time below 0 is none."""
    if trace.duration_ms is None:
        return Unscored(reason="timing was not recorded")
    if trace.duration_ms < 0:
        return Unscored(reason="the recorded end is before the start")
    return trace.duration_ms


def time_by_kind(calls: Mapping[str, Sequence[Interval]]) -> dict[str, int]:
    """Return the time of each kind of call. A moment belongs to the call that started last."""
    # A sweep over all starts and ends; the heap has the running calls, the latest start on top.
    running: list[tuple[int, int, str]] = []
    waiting = sorted((*interval, kind) for kind in calls for interval in calls[kind])[::-1]
    times = sorted(
        {time for intervals in calls.values() for interval in intervals for time in interval}
    )
    totals = dict.fromkeys(calls, 0)
    for now, next_time in pairwise(times):
        while waiting and waiting[-1][0] <= now:
            start, end, kind = waiting.pop()
            heappush(running, (-start, end, kind))
        while running and running[0][1] <= now:
            heappop(running)
        if running:
            totals[running[0][2]] += next_time - now
    return totals


def _details(trace: Trace) -> dict[str, Json]:
    models = _intervals((call.start, call.end) for call in trace.model_calls)
    tools = _intervals(
        (call.start, call.end) for turn in trace.turns for call in turn.tool_calls or ()
    )
    time = time_by_kind({"model_ms": models, "tool_ms": tools})
    # ADK's events state when a model call ended, not when it started.
    ends = [call.end for call in trace.model_calls if call.start is None and call.end is not None]
    answers = [*ends, *_answer_times(models, tools)]
    details: dict[str, Json] = {}
    if models:
        details["model_ms"] = time["model_ms"] / 1e6
    if answers:
        started = min(turn.start for turn in trace.turns if turn.start is not None)
        details["first_response_ms"] = (min(answers) - started) / 1e6
    if tools:
        details["tool_ms"] = time["tool_ms"] / 1e6
    return details


def _answer_times(models: Sequence[Interval], tools: Sequence[Interval]) -> Iterator[int]:
    """Return when each model call answered: at its end, or when a tool started within it."""
    started = sorted(start for start, _ in tools)
    for start, end in models:
        index = bisect_right(started, start)
        yield min([end, *started[index : index + 1]])


def _intervals(calls: Iterable[tuple[int | None, int | None]]) -> list[Interval]:
    return [(start, end) for start, end in calls if start is not None and end is not None]
