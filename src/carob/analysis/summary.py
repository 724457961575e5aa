"""What a run says as a whole, counted while its results go by."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from carob.analysis.modes import Modes
from carob.analysis.percentile import percentile
from carob.schema import (
    Case,
    CaseCounts,
    CaseResult,
    CaseScore,
    Group,
    MetricSummary,
    RunSummary,
    Status,
    Verdict,
)

Values = list[tuple[str, float]]

LABELS = ("phase", "difficulty", "quality_band", "topic_family", "topic", "workflow_mode")
"""Metadata by which cases are grouped, besides their agents and tags."""


def summarise(results: Iterable[CaseResult], cases: Mapping[str, Case]) -> RunSummary:
    """Counts, distributions, groups and modes in one pass; means add up in the order of results."""
    whole, modes = _Share(), Modes()
    metrics: defaultdict[str, _Metric] = defaultdict(_Metric)
    groups: defaultdict[tuple[str, str], _Share] = defaultdict(_Share)
    shares: dict[str, list[_Share]] = {}
    for result in results:
        composite = result.judgement.composite if result.judgement else None
        values = [(one.metric, one.value) for one in result.scores if one.value is not None]
        whole.add(result.status, composite, values)
        for score in result.scores:
            metrics[score.metric].add(score)
        case = cases.get(result.case) if result.case is not None else None
        if case:
            modes.add(result, case)
            if case.id not in shares:  # a case is met again in every repeat
                shares[case.id] = [groups[key] for key in _keys(case)]
            for share in shares[case.id]:
                share.add(result.status, composite, values)
    return RunSummary(
        cases=whole.counts(),
        metrics={name: metric.summary(whole.mean(name)) for name, metric in metrics.items()},
        groups=tuple(groups[key].group(*key) for key in sorted(groups, key=_place)),
        composite=whole.composite(),
        modes=modes.compare(),
    )


def verdict(summary: RunSummary) -> Verdict:
    """Failed if a case failed; without a verdict on every case there is none on the whole."""
    counts = summary.cases
    if counts.failed:
        return "failed"
    return "passed" if counts.passed and counts.passed == counts.total else "inconclusive"


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

    __slots__ = ("number", "total")

    def __init__(self) -> None:
        self.total, self.number = 0.0, 0

    def mean(self) -> float | None:
        return self.total / self.number if self.number else None


class _Share:
    """The results of the whole run, or of a group. Every result goes through here once for each of
    its groups, so the loop is as plain as it can be."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._means: dict[str, _Mean] = {}
        self._composite = _Mean()

    def add(self, status: Status, composite: float | None, values: Values) -> None:
        self._statuses[status] += 1
        if composite is not None:
            self._composite.total += composite
            self._composite.number += 1
        for metric, value in values:
            mean = self._means.get(metric)
            if mean is None:
                mean = self._means[metric] = _Mean()
            mean.total += value
            mean.number += 1

    def composite(self) -> float | None:
        return self._composite.mean()

    def mean(self, metric: str) -> float | None:
        return self._means[metric].mean() if metric in self._means else None

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
        means = {name: mean.total / mean.number for name, mean in self._means.items()}
        return Group(
            by=by, value=value, cases=self.counts(), means=means, composite=self.composite()
        )


class _Metric:
    """All statuses and values of a metric, eight bytes each."""

    def __init__(self) -> None:
        self._statuses: list[str] = []
        self._values = array("d")

    def add(self, score: CaseScore) -> None:
        self._statuses.append(score.status)
        if score.value is not None:
            self._values.append(score.value)

    def summary(self, mean: float | None) -> MetricSummary:
        found, ordered = Counter(self._statuses), sorted(self._values)
        return MetricSummary(
            mean=mean,
            min=ordered[0] if ordered else None,
            p50=percentile(ordered, 0.5) if ordered else None,
            p95=percentile(ordered, 0.95) if ordered else None,
            max=ordered[-1] if ordered else None,
            passed=found["passed"],
            failed=found["failed"],
            unscored=found["unscored"],
            errors=found["error"],
        )
