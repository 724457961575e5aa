"""What a run says as a whole, counted while its results go by."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from karat.analysis.modes import Modes
from karat.analysis.percentile import percentile
from karat.schema import (
    Case,
    CaseCounts,
    CaseResult,
    CaseScore,
    Group,
    MetricSummary,
    RunSummary,
)

LABELS = ("phase", "difficulty", "quality_band", "topic_family", "topic", "workflow_mode")
"""Metadata by which cases are grouped, besides their agents and tags."""


def summarise(results: Iterable[CaseResult], cases: Mapping[str, Case]) -> RunSummary:
    """Counts, distributions, groups and modes in one pass; means add up in the order of results."""
    whole, metrics, modes = _Share(), dict[str, _Metric](), Modes()
    groups: dict[tuple[str, str], _Share] = {}
    for result in results:
        whole.add(result)
        for score in result.scores:
            metrics.setdefault(score.metric, _Metric()).add(score)
        case = cases.get(result.case) if result.case is not None else None
        if case:
            modes.add(result, case)
            for key in _keys(case):
                groups.setdefault(key, _Share()).add(result)
    return RunSummary(
        cases=whole.counts(),
        metrics={name: metric.summary() for name, metric in metrics.items()},
        groups=tuple(groups[key].group(*key) for key in sorted(groups, key=_place)),
        composite=whole.composite.mean(),
        modes=modes.compare(),
    )


def _keys(case: Case) -> Iterator[tuple[str, str]]:
    """The groups that a case is in."""
    yield from (("agent", agent) for agent in dict.fromkeys(case.agents or ()))
    yield from (("tag", tag) for tag in dict.fromkeys(case.tags))
    for label in LABELS:
        value = case.metadata.get(label)
        if isinstance(value, str | int | float):
            yield label, str(value)


_ORDER = {by: index for index, by in enumerate(("agent", "tag", *LABELS))}


def _place(key: tuple[str, str]) -> tuple[int, str]:
    return _ORDER[key[0]], key[1]


class _Mean:
    """A mean that adds up from left to right. `sum` does that only before Python 3.12."""

    def __init__(self) -> None:
        self._sum, self._number = 0.0, 0

    def add(self, value: float) -> None:
        self._sum += value
        self._number += 1

    def mean(self) -> float | None:
        return self._sum / self._number if self._number else None


class _Share:
    """The results of the whole run, or of a group."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._means: dict[str, _Mean] = {}
        self.composite = _Mean()

    def add(self, result: CaseResult) -> None:
        self._statuses[result.status] += 1
        if result.judgement and result.judgement.composite is not None:
            self.composite.add(result.judgement.composite)
        for score in result.scores:
            if score.value is not None:
                self._means.setdefault(score.metric, _Mean()).add(score.value)

    def counts(self) -> CaseCounts:
        found = self._statuses
        return CaseCounts(
            total=found.total(),
            passed=found["passed"],
            failed=found["failed"],
            unscored=found["unscored"],
            errors=found["error"],
        )

    def group(self, by: str, value: str) -> Group:
        means = {name: mean.mean() for name, mean in self._means.items()}
        return Group(
            by=by,
            value=value,
            cases=self.counts(),
            means={name: mean for name, mean in means.items() if mean is not None},
            composite=self.composite.mean(),
        )


class _Metric:
    """All values of a metric, eight bytes each."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._values, self._mean = array("d"), _Mean()

    def add(self, score: CaseScore) -> None:
        self._statuses[score.status] += 1
        if score.value is not None:
            self._values.append(score.value)
            self._mean.add(score.value)

    def summary(self) -> MetricSummary:
        found = self._statuses
        counted = MetricSummary(
            passed=found["passed"],
            failed=found["failed"],
            unscored=found["unscored"],
            errors=found["error"],
        )
        if not self._values:
            return counted
        ordered = sorted(self._values)
        return structs.replace(
            counted,
            mean=self._mean.mean(),
            min=ordered[0],
            p50=percentile(ordered, 0.5),
            p95=percentile(ordered, 0.95),
            max=ordered[-1],
        )
