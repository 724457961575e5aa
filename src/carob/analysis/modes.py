"""Compare the workflow modes of the same scenarios, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations
from operator import add
from typing import NamedTuple

from carob.schema import Case, CaseResult, ModeComparison, PairedMetric


class _ScenarioKey(NamedTuple):
    scenario: str
    question: str


class _ScenarioScores:
    """The scores of one scenario in one mode; repeats are averaged."""

    def __init__(self) -> None:
        self.passed = True
        self.composites: list[float] = []
        self.values: dict[str, list[float]] = {}

    def add(self, result: CaseResult) -> None:
        self.passed = self.passed and result.status == "passed"
        if result.judgement and result.judgement.composite is not None:
            self.composites.append(result.judgement.composite)
        for score in result.scores:
            if score.value is not None:
                self.values.setdefault(score.metric, []).append(score.value)


class ModeResults:
    """Collects results by mode. Cases without a mode are skipped."""

    def __init__(self) -> None:
        self._by_mode: dict[str, dict[_ScenarioKey, _ScenarioScores]] = {}

    def add(self, result: CaseResult, case: Case) -> None:
        mode = case.metadata.get("workflow_mode")
        if mode is None or result.trace is None:
            return
        scenario = case.metadata.get("scenario_id")
        if isinstance(mode, str) and isinstance(scenario, str):
            question = case.turns[0].user if case.turns else None
            key = _ScenarioKey(scenario, question or "")
            self._by_mode.setdefault(mode, {}).setdefault(key, _ScenarioScores()).add(result)

    def compare(self) -> tuple[ModeComparison, ...]:
        """Compare every two modes that share scenarios."""
        comparisons = (
            self._compare(first, second) for first, second in combinations(sorted(self._by_mode), 2)
        )
        return tuple(comparison for comparison in comparisons if comparison.pairs)

    def _compare(self, first: str, second: str) -> ModeComparison:
        left, right = self._by_mode[first], self._by_mode[second]
        pairs = [(left[key], right[key]) for key in left if key in right]
        names = dict.fromkeys(name for a, _ in pairs for name in a.values)
        metrics = {
            name: _compare_values(
                (a.values.get(name, ()), b.values.get(name, ())) for a, b in pairs
            )
            for name in names
        }
        return ModeComparison(
            modes=(first, second),
            pairs=len(pairs),
            passed=(sum(a.passed for a, _ in pairs), sum(b.passed for _, b in pairs)),
            composite=_compare_values((a.composites, b.composites) for a, b in pairs),
            metrics={name: metric for name, metric in metrics.items() if metric},
        )


def _compare_values(
    pairs: Iterable[tuple[Sequence[float], Sequence[float]]],
) -> PairedMetric | None:
    both = [(_mean(first), _mean(second)) for first, second in pairs if first and second]
    if not both:
        return None
    return PairedMetric(
        pairs=len(both),
        means=(_mean([first for first, _ in both]), _mean([second for _, second in both])),
        difference=_mean([second - first for first, second in both]),
        first_higher=sum(first > second for first, second in both),
        second_higher=sum(second > first for first, second in both),
        equal=sum(first == second for first, second in both),
    )


def _mean(values: Sequence[float]) -> float:
    # From Python 3.12 on `sum` compensates rounding errors, so that the same run would get another
    # mean on another Python.
    return reduce(add, values) / len(values)
