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
from carob.schema.scale import Scale

Interval: TypeAlias = tuple[int, int]
"""Start and end in nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class Latency(Metric):
    """Milliseconds from the start of the first turn to the end of the last.

    Details: `model_ms` in which model calls ran, `tool_ms` in which tools did,
    `first_response_ms` until the first model call had answered. No moment is counted twice: it
    belongs to the innermost call, so that a tool within the model call that asked for it is the
    tool's time, and a model call within a tool the model's. The turns hold milliseconds too.
    """

    name: ClassVar[str] = "latency"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
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


def shares(calls: Mapping[str, Sequence[Interval]]) -> dict[str, int]:
    """How much time belongs to each kind of call; a moment belongs to the call that began last."""
    running: list[tuple[int, int, str]] = []
    waiting = sorted((*interval, kind) for kind in calls for interval in calls[kind])[::-1]
    times = sorted({time for some in calls.values() for interval in some for time in interval})
    found = dict.fromkeys(calls, 0)
    for now, then in pairwise(times):
        while waiting and waiting[-1][0] <= now:
            start, end, kind = waiting.pop()
            heappush(running, (-start, end, kind))
        while running and running[0][1] <= now:
            heappop(running)
        if running:
            found[running[0][2]] += then - now
    return found


def _details(trace: Trace) -> dict[str, Json]:
    models = _timed((call.start, call.end) for call in trace.model_calls)
    tools = _timed((call.start, call.end) for turn in trace.turns for call in turn.tool_calls or ())
    time = shares({"model_ms": models, "tool_ms": tools})
    details: dict[str, Json] = {}
    if models:
        details["model_ms"] = time["model_ms"] / 1e6
        begun = min(turn.start for turn in trace.turns if turn.start is not None)
        details["first_response_ms"] = (min(_answers(models, tools)) - begun) / 1e6
    if tools:
        details["tool_ms"] = time["tool_ms"] / 1e6
    return details


def _answers(models: Sequence[Interval], tools: Sequence[Interval]) -> Iterator[int]:
    """When each model call had answered: a tool that runs within it was asked for before."""
    begun = sorted(start for start, _ in tools)
    for start, end in models:
        place = bisect_right(begun, start)
        yield min([end, *begun[place : place + 1]])


def _timed(calls: Iterable[tuple[int | None, int | None]]) -> list[Interval]:
    return [(start, end) for start, end in calls if start is not None and end is not None]
