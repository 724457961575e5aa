"""Two stored runs as people look at them: what flipped, and for each flip what moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

from carob.analysis.edit_script import edit_script
from carob.api.compare import compare
from carob.api.history import stored_run
from carob.api.store import store_url
from carob.schema import CaseResult, Comparison, Flip, Run, ToolCall, Trace
from carob.schema.edit_script import EditStep
from carob.store import Database, open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_trace

_MAX_FLIPS = 300


class MovedFlip(NamedTuple):
    """A flip, what moved between the runs, and what stayed."""

    flip: Flip
    moved: tuple[str, ...]
    """In words, such as `agent answer` or `model gemini-2.5-flash → gemini-3-flash`."""
    same: tuple[str, ...]
    """What could have moved and did not."""
    calls: tuple[EditStep, ...]
    """The calls that differ, from base to run; empty if a trace was not saved."""

    @property
    def only_text(self) -> bool:
        """Whether the agent called the same tools and only said something else."""
        return "agent answer" in self.moved and "tool calls" not in self.moved


class ComparisonView(NamedTuple):
    """A comparison and its flips, the broken ones first."""

    comparison: Comparison
    flips: tuple[MovedFlip, ...]


class _Side(NamedTuple):
    """One of the two runs."""

    run: Run
    number: int
    places: Mapping[str, int]
    """The position of the first attempt at each case."""

    def result(self, case: str) -> CaseResult | None:
        place = self.places.get(case)
        return None if place is None else self.run.cases[place]


def view_comparison(base: str, run: str, *, store: str | None = None) -> ComparisonView:
    """Compare two stored runs, and say for every flip what moved: the agent's answer or calls, the
    model, the golden case, a metric, the judge, or the mapping that read the trace."""
    with open_store(store_url(store)) as database:
        old, new = _side(database, base, store), _side(database, run, store)
        comparison = compare(old.run, new.run)
        flips = nsmallest(_MAX_FLIPS, comparison.flips, key=lambda flip: (flip.kind, _worst(flip)))
        views = [_view_flip(database, flip, old, new, comparison) for flip in flips]
    return ComparisonView(comparison, tuple(views))


def _side(database: Database, name: str, store: str | None) -> _Side:
    run = stored_run(name, store=store)
    number, _ = read_head(database, find_execution(database, run.id))
    places: dict[str, int] = {}
    for place, result in enumerate(run.cases):
        places.setdefault(result.case or "", place)
    return _Side(run, number, places)


def _worst(flip: Flip) -> float:
    drops = [(score.after or 0.0) - (score.before or 0.0) for score in flip.scores]
    return min(drops, default=0.0)


def _view_flip(
    database: Database, flip: Flip, base: _Side, run: _Side, comparison: Comparison
) -> MovedFlip:
    traces = [_trace(database, side, flip.case) for side in (base, run)]
    before, after = base.result(flip.case), run.result(flip.case)
    calls = _differing_calls(*traces)
    moved = [*_moved_agent(flip, calls, *traces)]
    metrics = {score.metric for score in flip.scores}
    changed = [
        c.name for c in comparison.changed_inputs if c.what == "metric" and c.name in metrics
    ]
    mappers = [result.mapper if result else None for result in (before, after)]
    inputs = {
        "golden": before is not None and after is not None and before.digest == after.digest,
        "metric": not changed,
        "mapping": mappers[0] == mappers[1],
    }
    moved += [f"metric {name}" for name in dict.fromkeys(changed)]
    if not inputs["mapping"]:
        moved.append(f"mapping {mappers[0]} → {mappers[1]}")
    if not inputs["golden"]:
        moved.append("golden case")
    same = tuple(f"{name} same" for name, is_same in inputs.items() if is_same)
    return MovedFlip(flip, tuple(moved), same, calls)


def _moved_agent(
    flip: Flip, calls: Sequence[EditStep], before: Trace | None, after: Trace | None
) -> Iterator[str]:
    if calls:
        yield "tool calls"
    if before and after:
        answers = [[turn.response for turn in trace.turns] for trace in (before, after)]
        if answers[0] != answers[1]:
            yield "agent answer"
        if before.models != after.models:
            yield f"model {_names(before.models)} → {_names(after.models)}"
    elif any(turn.before != turn.after for turn in flip.turns) or not flip.turns:
        yield "agent answer"


def _names(models: Sequence[str]) -> str:
    return ", ".join(models) or "not recorded"


def _trace(database: Database, side: _Side, case: str) -> Trace | None:
    place = side.places.get(case)
    return None if place is None else read_trace(database, side.number, place)


def _differing_calls(before: Trace | None, after: Trace | None) -> tuple[EditStep, ...]:
    if before is None or after is None:
        return ()
    steps = edit_script(_calls(before), _calls(after))
    return tuple(step for step in steps if step.kind != "keep")


def _calls(trace: Trace) -> list[ToolCall]:
    return [call for turn in trace.turns for call in turn.tool_calls or ()]
