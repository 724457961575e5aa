"""Two modes of the same scenario, compared pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import add
from typing import NamedTuple

from carob.schema import Case, CaseResult, ModeComparison, PairedMetric


class _Key(NamedTuple):
    scenario: str
    question: str


class _Seen:
    """What was scored of one scenario in one mode; repeats are averaged."""

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


class Modes:
    """Collects results until all are seen. Cases that have no mode are passed over."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[_Key, _Seen]] = {}

    def add(self, result: CaseResult, case: Case) -> None:
        mode = case.metadata.get("workflow_mode")
        if mode is None or result.trace is None:
            return
        scenario = case.metadata.get("scenario_id")
        if isinstance(mode, str) and isinstance(scenario, str):
            question = case.turns[0].user if case.turns else None
            key = _Key(scenario, question or "")
            self._seen.setdefault(mode, {}).setdefault(key, _Seen()).add(result)

    def compare(self) -> tuple[ModeComparison, ...]:
        """Every two modes that have scenarios in common."""
        found = (
            self._compare(first, second) for first, second in combinations(sorted(self._seen), 2)
        )
        return tuple(one for one in found if one.pairs)

    def _compare(self, first: str, second: str) -> ModeComparison:
        left, right = self._seen[first], self._seen[second]
        pairs = [(left[key], right[key]) for key in left if key in right]
        names = dict.fromkeys(name for one, _ in pairs for name in one.values)
        compared = {
            name: _paired((a.values.get(name, ()), b.values.get(name, ())) for a, b in pairs)
            for name in names
        }
        return ModeComparison(
            modes=(first, second),
            pairs=len(pairs),
            passed=(sum(a.passed for a, _ in pairs), sum(b.passed for _, b in pairs)),
            composite=_paired((a.composites, b.composites) for a, b in pairs),
            metrics={name: one for name, one in compared.items() if one},
        )


def paired_modes(
    results: Iterable[CaseResult], cases: Mapping[str, Case]
) -> tuple[ModeComparison, ...]:
    """Cases with the same scenario and question and different `workflow_mode`, side by side."""
    modes = Modes()
    for result in results:
        case = cases.get(result.case) if result.case is not None else None
        if case:
            modes.add(result, case)
    return modes.compare()


def _paired(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> PairedMetric | None:
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
    return reduce(add, values) / len(values)  # `sum` rounds differently from Python 3.12 on
