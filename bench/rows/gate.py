"""False alarm rate and statistical power of the gate.

The runs are simulated with fixed seeds, so that the rates are the same on every machine; their
Monte Carlo error is stated beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from math import fsum, sqrt
from random import Random
from statistics import median
from typing import NamedTuple

from bench.row import Number, Row, at_most
from bench.simulate import Agents
from carob.analysis.interval import paired_differences
from carob.analysis.multiple_tests import holm
from carob.analysis.power import POWER
from carob.api.compare import compare
from carob.schema import Comparison, MetricComparison, Run

_TRIALS = 2_000
_PILOTS = 50
_STEPS = 4
_ALPHA = 5.0
_UNCHANGED = {
    "pass or fail, 20 cases": Agents(cases=20, metrics=("pass",)),
    "pass or fail, 300 cases": Agents(cases=300, metrics=("pass",)),
    "scores, 10 cases": Agents(cases=10, metrics=("score",)),
    "scores, 100 cases": Agents(cases=100, metrics=("score",)),
    "seconds with a long tail, 50 cases": Agents(cases=50, metrics=("seconds",)),
    "5 metrics, 60 cases": Agents(cases=60, metrics=("score", "pass", "score", "seconds", "pass")),
    "pass or fail, 30 cases, 5 attempts each": Agents(cases=30, metrics=("pass",), attempts=(5, 5)),
    "scores, 30 cases, 3 attempts before and 1 after": Agents(
        cases=30, metrics=("score",), attempts=(3, 1)
    ),
}
_DROPPED = {
    "pass rate by 10 points, 100 cases": Agents(cases=100, metrics=("pass",), drop=0.1),
    "pass rate by 10 points, 300 cases": Agents(cases=300, metrics=("pass",), drop=0.1),
    "pass rate by 20 points, 100 cases": Agents(cases=100, metrics=("pass",), drop=0.2),
    "score by 0.05, 100 cases": Agents(cases=100, metrics=("score",), drop=0.05),
    "pass rate by 10 points, 60 cases, 5 attempts each": Agents(
        cases=60, metrics=("pass",), attempts=(5, 5), drop=0.1
    ),
}
_DETECTABLE = {
    "scores, 100 cases": Agents(cases=100, metrics=("score",)),
    "pass or fail, 30 cases": Agents(cases=30, metrics=("pass",)),
    **{
        f"pass rate {rate:g}, {cases:,} cases": Agents(
            cases=cases, metrics=("pass",), pass_rate=rate
        )
        for rate in (0.67, 0.8, 0.9)
        for cases in (50, 300, 1_000)
    },
}
_CORRELATED = Agents(cases=100, metrics=("score",) * 5, drop=0.03)
_NET_DROPS = ((0.01, 0.1, 200), (0.05, 0.05, 300), (0.2, 0.1, 300))
"""Share of flips without a change, margin, cases."""
_AT_THE_MARGIN = Agents(cases=300, metrics=("score",), drop=0.05)


def measure() -> Iterator[Row]:
    """False alarms, false equivalence and power."""
    for title, agents in _UNCHANGED.items():
        yield _at_most_alpha(f"False alarm rate of `carob gate`: {title}", _share(agents, _alarm))
    quiet = _share(_AT_THE_MARGIN, _equivalent)
    yield _at_most_alpha("False equivalence rate: difference equal to the margin", quiet)
    for noise, margin, cases in _NET_DROPS:
        title = f"pass rates, {noise:.0%} noise, margin {margin:g}, {cases} cases"
        yield _at_most_alpha(
            f"False equivalence rate: {title}", _false_equivalence(noise, margin, cases)
        )
    for title, agents in _DROPPED.items():
        yield _power(title, agents)
    yield _joint_flips()
    for title, agents in _DETECTABLE.items():
        yield _power_at_detectable(title, agents)


def _alarm(before: Run, after: Run) -> bool:
    """Any significant difference is a false alarm, because the agents are equal."""
    metrics = _all(compare(before, after))
    return any(metric.verdict in ("regressed", "improved") for metric in metrics)


def _equivalent(before: Run, after: Run) -> bool:
    comparison = compare(before, after, margins={"score_0": 0.05})
    return comparison.metrics[0].verdict == "equivalent"


def _regressed(before: Run, after: Run) -> bool:
    return compare(before, after).metrics[0].verdict == "regressed"


def _false_equivalence(noise: float, margin: float, cases: int) -> _Share:
    """How often pass rates that differ by exactly the margin are called equivalent."""
    source = Random(1)  # noqa: S311 - not a secret
    weights = (noise / 2 + margin, noise / 2, 1 - noise - margin)
    claims = 0
    for _ in range(_TRIALS):
        sample = paired_differences(source.choices((-1.0, 1.0, 0.0), weights, k=cases), 1.0)
        low, high = sample.equivalence_interval(0.9, binary=True)
        claims += -margin <= low and high <= margin
    return _as_share(claims)


def _joint_flips() -> Row:
    """The power that joint sign flips gain over Holm's correction."""
    ours, theirs = _share(_CORRELATED, _any_regressed), _share(_CORRELATED, _any_regressed_by_holm)
    return Row(
        title="Regressions detected: 5 scores by 0.03, 100 cases",
        ours=Number(name=f"joint flips, ± {ours.error:.1f} points", value=ours.percent, unit="%"),
        theirs=Number(name="Holm's correction", value=theirs.percent, unit="%"),
        ratio=ours.percent / theirs.percent,
        bound="at least",
        target=1,
    )


def _any_regressed(before: Run, after: Run) -> bool:
    return any(metric.verdict == "regressed" for metric in compare(before, after).metrics)


def _any_regressed_by_holm(before: Run, after: Run) -> bool:
    comparison = compare(before, after)
    differences = [metric.difference for metric in _all(comparison) if metric.difference]
    return min(holm([difference.p for difference in differences])) <= _ALPHA / 100


def _regressed_unpaired(before: Run, after: Run) -> bool:
    """Welch's test, which ignores that both runs have the same cases."""
    old, new = _means(before), _means(after)
    error = sqrt(_variance(old) / len(old) + _variance(new) / len(new))
    return fsum(old) / len(old) - fsum(new) / len(new) > 1.96 * error


def _all(comparison: Comparison) -> list[MetricComparison]:
    return [*([comparison.overall] if comparison.overall else []), *comparison.metrics]


def _means(run: Run) -> list[float]:
    """The mean of the attempts at each case."""
    values: dict[str | None, list[float]] = {}
    for result in run.cases:
        values.setdefault(result.case, []).append(result.scores[0].value or 0.0)
    return [fsum(attempts) / len(attempts) for attempts in values.values()]


def _variance(values: list[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


class _Share(NamedTuple):
    percent: float
    error: float
    """Twice the standard error, in points."""


Question = Callable[[Run, Run], bool]


def _share(agents: Agents, question: Question) -> _Share:
    """The share of trials in which the answer is yes."""
    with ProcessPoolExecutor() as pool:
        answers = pool.map(partial(_answer, agents, question), range(_TRIALS), chunksize=50)
        return _as_share(sum(answers))


def _as_share(hits: int) -> _Share:
    share = hits / _TRIALS
    return _Share(100 * share, 200 * sqrt(share * (1 - share) / _TRIALS))


def _answer(agents: Agents, question: Question, seed: int) -> bool:
    return question(*agents.runs(seed))


def _at_most_alpha(title: str, share: _Share) -> Row:
    name = f"{_TRIALS:,} pairs of runs, ± {share.error:.1f} points"
    ours = Number(name=name, value=share.percent, unit="%")
    return at_most(title, ours, Number(name="nominal", value=_ALPHA, unit="%"), target=1)


def _power(title: str, agents: Agents) -> Row:
    ours, theirs = _share(agents, _regressed), _share(agents, _regressed_unpaired)
    return Row(
        title=f"Regressions detected: {title}",
        ours=Number(name=f"± {ours.error:.1f} points", value=ours.percent, unit="%"),
        theirs=Number(name="unpaired test", value=theirs.percent, unit="%"),
        ratio=ours.percent / theirs.percent,
        bound="at least",
        # The exact test of pass and fail loses a little power where pairing does not help.
        target=0.9,
    )


def _power_at_detectable(title: str, agents: Agents) -> Row:
    """Whether drops of the detectable size are detected with the stated power."""
    drop = _detectable(agents)
    found = _share(replace(agents, drop=drop), _regressed)
    return Row(
        title=f"Regressions of the stated detectable size detected: {title}",
        ours=Number(
            name=f"a drop of {drop:.3f}, ± {found.error:.1f} points", value=found.percent, unit="%"
        ),
        theirs=Number(name="stated power", value=100 * POWER, unit="%"),
        ratio=found.percent / (100 * POWER),
        bound="at least",
        target=0.95,
    )


def _detectable(agents: Agents) -> float:
    """The median detectable drop. It depends on the drop itself, so it takes a few iterations."""
    drop = 0.0
    for _ in range(_STEPS):
        dropped = replace(agents, drop=drop)
        differences = [
            compare(*dropped.runs(seed)).metrics[0].difference for seed in range(_PILOTS)
        ]
        sizes = [difference.detectable for difference in differences if difference]
        drop = median(size for size in sizes if size is not None)
    return drop
