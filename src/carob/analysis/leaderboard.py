"""Rank runs of the same cases.

Every pair of runs is compared case by case, and the p-values of all pairs are adjusted together:
among ten equal runs, some pair nearly always looks different. A run is ranked below another only if
the difference is significant, so that ties are shown as ties.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain, combinations
from math import fsum
from operator import sub
from typing import NamedTuple, TypeAlias

from carob.analysis.align import same_cases
from carob.analysis.changed_inputs import shared_metrics
from carob.analysis.interval import mean_interval, paired_differences
from carob.analysis.multiple_tests import holm
from carob.analysis.per_case import Column, pass_rates, score_columns
from carob.analysis.rules import ALPHA, PASS_RATE
from carob.analysis.score_table import CaseNumbers, ScoreTable
from carob.analysis.sign_flip import sign_flip_test
from carob.errors import EvaluationError, UsageError
from carob.schema import Run
from carob.schema.comparison import Interval
from carob.schema.leaderboard import Leaderboard, RankedRun, SeparatingCase
from carob.schema.outcome import Scale

_SHOWN = 20
_COST, _LATENCY = "cost", "latency"
_Point: TypeAlias = tuple[float | None, ...]
"""Value, cost and latency of a run, turned so that more is better; `None` if not measured."""


class _Rules(NamedTuple):
    scale: Scale
    better: str
    alpha: float

    @property
    def sign(self) -> float:
        return 1.0 if self.better == "higher" else -1.0


class _RankedColumn(NamedTuple):
    """One run: a number per shared case."""

    table: ScoreTable
    name: str
    values: array[float]

    @property
    def mean(self) -> float:
        return fsum(self.values) / len(self.values)


def rank_runs(
    runs: Mapping[str, Run], *, metric: str = PASS_RATE, alpha: float = ALPHA
) -> Leaderboard:
    """Rank runs, by name, by the mean of a metric or by their pass rate. Raises `UsageError` if
    they do not share the metric, and `EvaluationError` if they share no case."""
    if len(runs) < 2:
        raise UsageError("a leaderboard needs at least two runs")
    rules = _Rules(*_check_metric(runs, metric), alpha)
    cases = CaseNumbers()
    tables = {name: ScoreTable(run, cases) for name, run in runs.items()}
    shared = _shared_cases([*tables.values()])
    columns = {name: _numbers(table, shared, metric) for name, table in tables.items()}
    kept = [*_find_known_in_all(columns.values(), len(shared))]
    if not kept:
        raise EvaluationError(f"no case has a {metric} in every run")
    ranked = [
        _RankedColumn(table, name, array("d", map(columns[name].values.__getitem__, kept)))
        for name, table in tables.items()
    ]
    ranked.sort(key=lambda column: (-rules.sign * column.mean, column.name))
    p_values = _adjust_p_values(ranked)
    ranked_cases = array("i", map(shared.__getitem__, kept))
    return Leaderboard(
        metric=metric,
        better=rules.better,
        alpha=alpha,
        cases=len(kept),
        left_out=len(cases) - len(kept),
        runs=tuple(_rank(ranked, p_values, rules, ranked_cases)),
        separating=tuple(_separating_cases(ranked, [cases.names[n] for n in ranked_cases])),
        different_rules=_different_rules([*tables.values()], ranked_cases)
        if metric == PASS_RATE
        else (),
    )


def _find_known_in_all(columns: Iterable[Column], cases: int) -> Iterator[int]:
    """Yield the positions of the cases with a number in every run."""
    known = [column.known for column in columns]
    return (i for i in range(cases) if all(flags[i] for flags in known))


def _check_metric(runs: Mapping[str, Run], metric: str) -> tuple[Scale, str]:
    if metric == PASS_RATE:
        return (0.0, 1.0), "higher"
    first, *others = runs.values()
    shared = {spec.name: spec for spec in first.metrics}
    for other in others:
        same = shared_metrics(first, other).specs
        shared = {name: spec for name, spec in shared.items() if name in same}
    if metric not in shared:
        names = ", ".join([PASS_RATE, *shared])
        raise UsageError(f"{metric!r} is not a metric that all runs share", hint=f"shared: {names}")
    return shared[metric].scale, shared[metric].better


def _shared_cases(tables: Sequence[ScoreTable]) -> array[int]:
    """Return the cases with the same question and expectations in all runs."""
    first, *others = tables
    checks = [same_cases(first, other) for other in others]
    return array("i", (case for case in first.numbers() if all(same(case) for same in checks)))


def _different_rules(tables: Sequence[ScoreTable], cases: Sequence[int]) -> tuple[str, ...]:
    """By what else than the answers a case could pass in one run and fail in another. A matrix may
    vary this on purpose, so the ranking says it and is not refused."""
    first, *others = tables
    fields: dict[str, dict[str, None]] = {}
    by_profile = False
    for other in others:
        has_profiles = first.has_profiles or other.has_profiles
        deciding = {
            spec.name
            for spec in (*first.run.metrics, *other.run.metrics)
            if has_profiles or spec.threshold is not None
        }
        for change in shared_metrics(first.run, other.run).changes:
            if change.name in deciding:
                fields.setdefault(change.name, {})[change.field] = None
        by_profile = by_profile or (
            has_profiles and any(first.profile(case) != other.profile(case) for case in cases)
        )
    metrics = (f"{name} ({', '.join(names)})" for name, names in sorted(fields.items()))
    return (*metrics, "profiles") if by_profile else tuple(metrics)


def _numbers(table: ScoreTable, cases: Sequence[int], metric: str) -> Column:
    if metric == PASS_RATE:
        return pass_rates(table, cases)
    return score_columns(table, metric, cases).values


def _adjust_p_values(ranked: Sequence[_RankedColumn]) -> dict[tuple[int, int], float]:
    """Return the adjusted p-value of each pair of positions, the better one first."""
    pairs = [*combinations(range(len(ranked)), 2)]
    p_values = [
        sign_flip_test(array("d", map(sub, ranked[j].values, ranked[i].values))) for i, j in pairs
    ]
    return dict(zip(pairs, holm(p_values), strict=True))


def _rank(
    ranked: Sequence[_RankedColumn],
    p_values: Mapping[tuple[int, int], float],
    rules: _Rules,
    cases: Sequence[int],
) -> Iterator[RankedRun]:
    best = ranked[0]
    costs = [_mean_of(column.table, _COST, cases) for column in ranked]
    latencies = [_mean_of(column.table, _LATENCY, cases) for column in ranked]
    points: list[_Point] = [
        (rules.sign * column.mean, _negative(cost), _negative(latency))
        for column, cost, latency in zip(ranked, costs, latencies, strict=True)
    ]
    for position, column in enumerate(ranked):
        yield RankedRun(
            rank=1 + sum(p_values[other, position] <= rules.alpha for other in range(position)),
            run=column.table.run.id,
            name=column.name,
            value=column.mean,
            interval=mean_interval(column.values, 1 - rules.alpha, rules.scale),
            difference=column.mean - best.mean if position else None,
            difference_interval=_interval(best, column, rules) if position else None,
            p=p_values[0, position] if position else None,
            cost=costs[position],
            latency=latencies[position],
            efficient=_is_efficient(points[position], points),
        )


def _negative(price: float | None) -> float | None:
    return None if price is None else -price


def _interval(best: _RankedColumn, column: _RankedColumn, rules: _Rules) -> Interval:
    differences = array("d", map(sub, column.values, best.values))
    low, high = rules.scale
    largest = max(map(abs, chain(best.values, column.values)))
    span = (largest or 1.0) if high is None else high - low
    lower, upper = paired_differences(differences, span).interval(1 - rules.alpha)
    return max(-span, lower), min(span, upper)


def _mean_of(table: ScoreTable, metric: str, cases: Sequence[int]) -> float | None:
    """Return the mean of a metric over the shared cases, if every one of them has it."""
    if metric not in table.metrics:
        return None
    column = score_columns(table, metric, cases).values
    return fsum(column.values) / len(cases) if column.complete else None


def _is_efficient(own: _Point, points: Sequence[_Point]) -> bool:
    """Whether no other run is at least as good in everything that is known, and better in one."""
    return not any(_dominates(other, own) for other in points)


def _dominates(other: _Point, own: _Point) -> bool:
    better = False
    for theirs, ours in zip(other, own, strict=True):
        if theirs is None and ours is None:
            continue
        # Nobody knows whether an unknown price is lower.
        if theirs is None or ours is None or theirs < ours:
            return False
        better = better or theirs > ours
    return better


def _separating_cases(
    ranked: Sequence[_RankedColumn], cases: Sequence[str]
) -> list[SeparatingCase]:
    separating = (
        SeparatingCase(case=case, values=values, spread=max(values) - min(values))
        for case, *numbers in zip(cases, *(column.values for column in ranked), strict=True)
        if max(values := tuple(numbers)) > min(values)
    )
    return nsmallest(_SHOWN, separating, key=lambda item: (-item.spread, item.case))
