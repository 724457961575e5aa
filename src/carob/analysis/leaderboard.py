"""Rank runs of the same cases.

Every pair of runs is compared case by case, and the p-values of all pairs are adjusted together:
among ten equal runs, some pair nearly always looks different. A run is ranked below another only if
the difference is significant, so that ties are shown as ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import NamedTuple, TypeAlias

from carob.analysis.changed_inputs import shared_metrics
from carob.analysis.interval import mean_interval, paired_differences
from carob.analysis.multiple_tests import holm
from carob.analysis.per_case import Attempts, Column, attempts_by_case, pass_rates, score_columns
from carob.analysis.rules import ALPHA, PASS_RATE
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


class _Column(NamedTuple):
    """One run: a number per shared case."""

    run: Run
    name: str
    values: list[float]

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
    cases, total = _shared_cases(list(runs.values()))
    columns = {name: _numbers(run, cases, metric) for name, run in runs.items()}
    kept = [
        i for i in range(len(cases)) if all(column[i] is not None for column in columns.values())
    ]
    if not kept:
        raise EvaluationError(f"no case has a {metric} in every run")
    ranked = [
        _Column(run, name, [value for i in kept if (value := columns[name][i]) is not None])
        for name, run in runs.items()
    ]
    ranked.sort(key=lambda column: (-rules.sign * column.mean, column.name))
    p_values = _adjusted_p_values(ranked)
    names = [cases[i] for i in kept]
    return Leaderboard(
        metric=metric,
        better=rules.better,
        alpha=alpha,
        cases=len(kept),
        left_out=total - len(kept),
        runs=tuple(_rank(ranked, p_values, rules, names)),
        separating=tuple(_separating_cases(ranked, names)),
    )


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


def _shared_cases(runs: Sequence[Run]) -> tuple[list[str], int]:
    """Return the cases with the same question and expectations in all runs, and how many cases
    there are at all."""
    first, *others = [attempts_by_case(run) for run in runs]
    shared = [
        case
        for case, results in first.items()
        if all(case in other and other[case][0].digest == results[0].digest for other in others)
    ]
    return shared, len({case for attempts in (first, *others) for case in attempts})


def _numbers(run: Run, cases: Sequence[str], metric: str) -> Column:
    attempts = attempts_by_case(run)
    results: list[Attempts] = [attempts[case] for case in cases]
    if metric == PASS_RATE:
        return pass_rates(results)
    return score_columns(results, [metric])[metric].values


def _adjusted_p_values(ranked: Sequence[_Column]) -> dict[tuple[int, int], float]:
    """Return the adjusted p-value of each pair of positions, the better one first."""
    pairs = [*combinations(range(len(ranked)), 2)]
    p_values = [
        sign_flip_test(
            [right - left for left, right in zip(ranked[i].values, ranked[j].values, strict=True)]
        )
        for i, j in pairs
    ]
    return dict(zip(pairs, holm(p_values), strict=True))


def _rank(
    ranked: Sequence[_Column],
    p_values: Mapping[tuple[int, int], float],
    rules: _Rules,
    cases: Sequence[str],
) -> Iterator[RankedRun]:
    best = ranked[0]
    costs = [_mean_of(column.run, _COST, cases) for column in ranked]
    latencies = [_mean_of(column.run, _LATENCY, cases) for column in ranked]
    points: list[_Point] = [
        (rules.sign * column.mean, _negative(cost), _negative(latency))
        for column, cost, latency in zip(ranked, costs, latencies, strict=True)
    ]
    for position, column in enumerate(ranked):
        yield RankedRun(
            rank=1 + sum(p_values[other, position] <= rules.alpha for other in range(position)),
            run=column.run.id,
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


def _interval(best: _Column, column: _Column, rules: _Rules) -> Interval:
    differences = [right - left for left, right in zip(best.values, column.values, strict=True)]
    low, high = rules.scale
    largest = max(map(abs, (*best.values, *column.values)))
    span = (largest or 1.0) if high is None else high - low
    lower, upper = paired_differences(differences, span).interval(1 - rules.alpha)
    return max(-span, lower), min(span, upper)


def _mean_of(run: Run, metric: str, cases: Sequence[str]) -> float | None:
    """Return the mean of a metric over the shared cases, if every one of them has it."""
    if metric not in {spec.name for spec in run.metrics}:
        return None
    values = [value for value in _numbers(run, cases, metric) if value is not None]
    return fsum(values) / len(values) if len(values) == len(cases) else None


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


def _separating_cases(ranked: Sequence[_Column], cases: Sequence[str]) -> list[SeparatingCase]:
    separating = [
        SeparatingCase(case=case, values=values, spread=max(values) - min(values))
        for case, *numbers in zip(cases, *(column.values for column in ranked), strict=True)
        if max(values := tuple(numbers)) > min(values)
    ]
    separating.sort(key=lambda item: (-item.spread, item.case))
    return separating[:_SHOWN]
