"""Summarize a run in one pass over its results."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import merge

from msgspec import UNSET

from carob.analysis.modes import ModeResults
from carob.analysis.repeats import attempt_summary
from carob.schema import (
    AttemptCounts,
    AttemptSummary,
    Case,
    CaseCounts,
    CaseResult,
    CaseScore,
    MetricSummary,
    RunSummary,
    Status,
    SummaryGroup,
    Verdict,
)
from carob.schema.status import case_counts

MetricValues = list[tuple[str, float]]
"""Metrics and their values for one result."""

LABELS = ("phase", "difficulty", "quality_band", "topic_family", "topic", "workflow_mode")
"""Metadata keys by which cases are grouped, besides agents and tags."""

_PART = 1 << 16
"""Values that are sorted at once."""


def summarise(
    results: Iterable[CaseResult], cases: Mapping[str, Case], by: Sequence[str] = ()
) -> RunSummary:
    """Count, average and group results in one pass. Sums add up in the order of the results. `by`
    adds groups by further keys of the metadata."""
    labels = tuple(dict.fromkeys([*LABELS, *(key for key in by if key not in ("agent", "tag"))]))
    total, modes = _GroupTotals(), ModeResults()
    metrics: defaultdict[str, _MetricTotals] = defaultdict(_MetricTotals)
    groups: defaultdict[tuple[str, str], _GroupTotals] = defaultdict(_GroupTotals)
    last: Case | None = None
    last_groups: list[_GroupTotals] = []
    attempts = _AttemptTally()
    for result in results:
        composite = result.judgement.composite if result.judgement else None
        values = [(one.metric, one.value) for one in result.scores if one.value is not None]
        total.add(result.status, composite, values)
        attempts.add(result)
        for score in result.scores:
            metrics[score.metric].add(score)
        if last is None or last.id != result.case:  # repeats of a case follow each other
            last = cases.get(result.case) if result.case is not None else None
            last_groups = [groups[key] for key in _group_keys(last, labels)] if last else []
        if last:
            modes.add(result, last)
            for group in last_groups:
                group.add(result.status, composite, values)
    return RunSummary(
        cases=total.counts(),
        metrics={name: metric.summary(total.mean(name)) for name, metric in metrics.items()},
        groups=tuple(groups[key].group(*key) for key in _in_order(groups, labels)),
        composite=total.composite(),
        modes=modes.compare(),
        attempts=attempts.summary() or UNSET,
    )


def verdict(summary: RunSummary) -> Verdict:
    """Failed if any case failed; passed only if cases passed and none was left undecided.

    If every case is informational, no metric was asked to decide. That is not a pass, and not the
    same as metrics that were asked and decided nothing.
    """
    counts = summary.cases
    if counts.failed:
        return "failed"
    if counts.unscored or counts.errors or not counts.total:
        return "inconclusive"
    return "passed" if counts.passed else "informational"


def _group_keys(case: Case, labels: Sequence[str]) -> Iterable[tuple[str, str]]:
    """The groups that a case belongs to."""
    keys = [("agent", agent) for agent in case.agents or ()]
    keys += [("tag", tag) for tag in case.tags]
    metadata = case.metadata
    for label in labels:
        if label in metadata:
            value = metadata[label]
            items = value if isinstance(value, list) else [value]
            keys += [(label, str(item)) for item in items if isinstance(item, str | int | float)]
    return dict.fromkeys(keys)


def _in_order(keys: Iterable[tuple[str, str]], labels: Sequence[str]) -> list[tuple[str, str]]:
    order = {by: index for index, by in enumerate(("agent", "tag", *labels))}
    return sorted(keys, key=lambda key: (order[key[0]], key[1]))


class _AttemptTally:
    """Counts attempts at the same case, which follow each other. Cases with one attempt are not
    remembered: a large run has many of them."""

    def __init__(self) -> None:
        self._case: str | None = None
        self._results = self._passed = self._decided = 0
        self._repeated: dict[str, AttemptCounts] = {}

    def add(self, result: CaseResult) -> None:
        if result.case != self._case:
            self._close()
            self._case = result.case
        self._results += 1
        self._passed += result.status == "passed"
        self._decided += result.status in ("passed", "failed")

    def _close(self) -> None:
        if self._case is not None and self._results > 1:
            counts = AttemptCounts(passed=self._passed, total=self._decided)
            self._repeated[self._case] = counts
        self._results = self._passed = self._decided = 0

    def summary(self) -> AttemptSummary | None:
        self._close()
        return attempt_summary(self._repeated)


class _RunningMean:
    """A mean that adds up from left to right, as `sum` did before Python 3.12."""

    __slots__ = ("number", "total")

    def __init__(self) -> None:
        self.total, self.number = 0.0, 0

    def mean(self) -> float | None:
        return self.total / self.number if self.number else None


class _GroupTotals:
    """The totals of the run or of a group. Every result is added once per group that it belongs to,
    so this is the hot loop of a summary."""

    def __init__(self) -> None:
        self._statuses: Counter[Status] = Counter()
        self._means: dict[str, _RunningMean] = {}
        self._composite = _RunningMean()

    def add(self, status: Status, composite: float | None, values: MetricValues) -> None:
        self._statuses[status] += 1
        if composite is not None:
            self._composite.total += composite
            self._composite.number += 1
        for metric, value in values:
            mean = self._means.get(metric)
            if mean is None:
                mean = self._means[metric] = _RunningMean()
            mean.total += value
            mean.number += 1

    def composite(self) -> float | None:
        return self._composite.mean()

    def mean(self, metric: str) -> float | None:
        return self._means[metric].mean() if metric in self._means else None

    def counts(self) -> CaseCounts:
        return case_counts(self._statuses)

    def group(self, by: str, value: str) -> SummaryGroup:
        means = {name: mean.total / mean.number for name, mean in self._means.items()}
        return SummaryGroup(
            by=by, value=value, cases=self.counts(), means=means, composite=self.composite()
        )


class _MetricTotals:
    """The statuses of a metric, and all its values, eight bytes each: a million fit in 8 MB."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._values = array("d")

    def add(self, score: CaseScore) -> None:
        self._statuses[score.status] += 1
        if score.value is not None:
            self._values.append(score.value)

    def summary(self, mean: float | None) -> MetricSummary:
        sort_in_parts(self._values)
        found, ordered = self._statuses, self._values
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


def sort_in_parts(values: array[float]) -> None:
    """Sort values in place. `sorted` needs four times the memory of the array, so that many values
    are sorted in parts, and the parts are merged."""
    parts = [
        array("d", sorted(values[start : start + _PART])) for start in range(0, len(values), _PART)
    ]
    for place, value in enumerate(merge(*parts)):
        values[place] = value


def percentile(ordered: Sequence[float], share: float) -> float:
    """The percentile of sorted values by linear interpolation, bit for bit as numpy computes it."""
    position = (len(ordered) - 1) * share
    below = int(position)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = position - below
    step = high - low
    return high - step * (1 - part) if part >= 0.5 else low + step * part
