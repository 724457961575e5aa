"""Differences between two runs other than the agent: metrics, golden data, profiles, mappings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from carob.analysis.per_case import count_attempts
from carob.analysis.score_table import ScoreTable
from carob.schema import (
    InputChange,
    Json,
    JudgeSpec,
    MetricSpec,
    MockSpec,
    Run,
    SimulatorSpec,
)

_Change: TypeAlias = tuple[str | None, str | None]
"""Before and after."""
_NOT_COMPARED = "not compared"
_SCORES_ONLY = "scores are compared, pass rates are not"
_UNCHANGED_CASES = "only unchanged cases are compared"
_OTHER_MAPPING = "compared, although different mappings read the traces"
_OTHER_CONDITIONS = "compared, although the agent was asked under other conditions"
_VERDICTS_DIFFER = "pass rates are not compared"
_OTHERS_LEFT_OUT = "pass rates leave the others out"


class SharedMetrics(NamedTuple):
    """The metrics that two runs share."""

    specs: Mapping[str, MetricSpec]
    """Same name, version, parameters, scale and judge."""
    same_threshold: frozenset[str]
    """Those of them with the same threshold, or with none, in both runs."""
    changes: tuple[InputChange, ...]


def shared_metrics(before: Run, after: Run) -> SharedMetrics:
    """Find the metrics that can be compared, and say why the others cannot."""
    old, new = _by_name(before), _by_name(after)
    names = [*new, *sorted(old.keys() - new.keys())]
    changes = [change for name in names for change in _metric_changes(name, old, new)]
    excluded = {change.name for change in changes if change.effect == _NOT_COMPARED}
    changed = {change.name for change in changes}
    specs = {name: new[name][0] for name in new if name not in excluded}
    return SharedMetrics(specs, frozenset(specs) - changed, tuple(changes))


def input_changes(
    before: ScoreTable, after: ScoreTable, cases: Collection[int]
) -> Iterator[InputChange]:
    """List changes of golden data, and of the scoring profiles and trace mappings of the cases with
    these numbers."""
    yield from _dataset_changes(before.run, after.run)
    yield from _target_changes(before.run, after.run)
    profiles, mappers = Counter[_Change](), Counter[_Change]()
    for case in cases:
        profiles[before.profile(case), after.profile(case)] += 1
        mappers[before.mapper(case), after.mapper(case)] += 1
    yield from _counted_changes("profile", profiles, _VERDICTS_DIFFER)
    known = Counter({both: number for both, number in mappers.items() if None not in both})
    yield from _counted_changes("mapper", known, _OTHER_MAPPING)
    if before.repeated or after.repeated:
        yield from _lost_attempts(before, after, cases)


def _lost_attempts(
    before: ScoreTable, after: ScoreTable, cases: Collection[int]
) -> Iterator[InputChange]:
    """Say so if another share of the attempts has no verdict: an agent that crashes on four of five
    attempts at a case has the pass rate of the fifth."""
    counts = [0, 0, 0, 0]
    number = 0
    for case in cases:
        old, new = (_decided_attempts(table, case) for table in (before, after))
        if old[0] * new[1] != new[0] * old[1]:
            number += 1
            counts = [total + part for total, part in zip(counts, (*old, *new), strict=True)]
    if number:
        name = f"{number:,} case{'' if number == 1 else 's'}"
        left, right = (f"{counts[at]:,} of {counts[at + 1]:,} with a verdict" for at in (0, 2))
        yield InputChange("attempts", name, "attempts", left, right, _OTHERS_LEFT_OUT)


def _decided_attempts(table: ScoreTable, case: int) -> tuple[int, int]:
    """How many attempts at a case have a verdict, and how many there are."""
    return count_attempts(table, case, table.statuses).total, table.attempts(case)


def _by_name(run: Run) -> dict[str, list[MetricSpec]]:
    specs: dict[str, list[MetricSpec]] = {}
    for spec in run.metrics:
        specs.setdefault(spec.name, []).append(spec)
    return specs


def _metric_changes(
    name: str, old: Mapping[str, list[MetricSpec]], new: Mapping[str, list[MetricSpec]]
) -> Iterator[InputChange]:
    before, after = old.get(name, []), new.get(name, [])
    # A score names its metric, not its parameters: of a metric that a run used twice with
    # different parameters, nobody can say which score belongs to which.
    if len(before) != 1 or len(after) != 1:
        yield InputChange("metric", name, "uses", len(before), len(after), _NOT_COMPARED)
        return
    for field, left, right in _fields(before[0], after[0]):
        if left != right:
            effect = _SCORES_ONLY if field == "threshold" else _NOT_COMPARED
            yield InputChange("metric", name, field, left, right, effect)


def _fields(before: MetricSpec, after: MetricSpec) -> Iterator[tuple[str, Json, Json]]:
    yield "version", before.version, after.version
    yield "scale", list(before.scale), list(after.scale)
    yield "better", before.better, after.better
    for name in sorted(before.params.keys() | after.params.keys()):
        yield f"params.{name}", before.params.get(name), after.params.get(name)
    yield from _judge_fields(before.judge or None, after.judge or None)
    yield "threshold", before.threshold, after.threshold


def _judge_fields(
    before: JudgeSpec | None, after: JudgeSpec | None
) -> Iterator[tuple[str, Json, Json]]:
    for name in ("model", "prompt", "rubric"):
        yield f"judge.{name}", getattr(before, name, None), getattr(after, name, None)
    old, new = before.params if before else {}, after.params if after else {}
    for name in sorted(old.keys() | new.keys()):
        yield f"judge.params.{name}", old.get(name), new.get(name)


def _dataset_changes(before: Run, after: Run) -> Iterator[InputChange]:
    old, new = before.dataset, after.dataset
    either = new or old
    name = either.name if either else ""
    for field in ("name", "version", "digest"):
        left, right = getattr(old, field, None), getattr(new, field, None)
        if left != right:
            yield InputChange("dataset", name, field, left, right, _UNCHANGED_CASES)


def _target_changes(before: Run, after: Run) -> Iterator[InputChange]:
    """Say so if live agents were asked in different ways: by another simulated user, with other
    tool results, or one of them not live at all. The agents themselves may differ."""
    old, new = before.target or None, after.target or None
    for field in ("simulator", "mocks"):
        left, right = getattr(old, field, None), getattr(new, field, None)
        if left != right:
            old_text, new_text = _describe(left), _describe(right)
            yield InputChange("target", field, field, old_text, new_text, _OTHER_CONDITIONS)


def _describe(value: SimulatorSpec | MockSpec | None) -> Json:
    if value is None:
        return None
    if isinstance(value, MockSpec):
        return f"{value.source} {value.digest[:19]}, on miss {value.on_miss}"
    return f"{value.model} {value.prompt[:19]}, {value.max_turns} turns"


def _counted_changes(
    what: Literal["profile", "mapper"],
    counts: Counter[_Change],
    effect: str,
) -> Iterator[InputChange]:
    for (left, right), number in sorted(counts.items(), key=str):
        if left != right:
            name = f"{number:,} case{'' if number == 1 else 's'}"
            yield InputChange(what, name, what, left, right, effect)
