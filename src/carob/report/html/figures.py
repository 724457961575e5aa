"""Charts: how scores are spread, where they are low, and how they moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from carob.report.charts import Range, histogram, trend
from carob.report.html.parts import named, number, scale, table
from carob.report.markup import Child, Markup, join, tag
from carob.schema import MetricSpec, Run, SummaryGroup
from carob.schema.history import RunEntry

_STEPS = 8
"""Shades of a heat map."""
_MOST_GROUPS = 60
_FEW = 3
"""Metrics up to which heat maps are narrow enough to stand side by side."""


def chart_section(run: Run, earlier: Sequence[RunEntry]) -> Markup | None:
    """The distribution of each metric that scored, its trend, and a heat map for each property."""
    values = _values(run)
    uses = [use for use in run.metrics if values[use.name]]
    if not uses:
        return None
    runs = _in_time(earlier, _kept(run))
    spread = [_spread(use, values[use.name]) for use in uses]
    trends = [_trend(use, runs) for use in uses]
    properties = dict.fromkeys(group.by for group in run.summary.groups)
    maps = [_heat_map(by, run.summary.groups, uses) for by in properties]
    narrow = "maps" if len(uses) <= _FEW else None
    return join([tag("div", spread, trends, class_="figures"), tag("div", maps, class_=narrow)])


def _values(run: Run) -> Mapping[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for case in run.cases:
        for score in case.scores:
            if score.value is not None:
                found[score.metric].append(score.value)
    return found


def _kept(run: Run) -> RunEntry:
    means = {name: one.mean for name, one in run.summary.metrics.items() if one.mean is not None}
    return RunEntry(
        id=run.id,
        created_at=run.created_at,
        verdict=run.verdict,
        dataset=run.dataset.name if run.dataset else None,
        version=run.dataset.version if run.dataset else None,
        cases=run.summary.cases,
        means=means,
        labels={},
    )


def _in_time(earlier: Sequence[RunEntry], last: RunEntry) -> list[RunEntry]:
    """All runs, oldest first. A history may have the last one already."""
    others = [one for one in earlier if (one.id, one.created_at) != (last.id, last.created_at)]
    return sorted([*others, last], key=lambda one: one.created_at)


def _spread(use: MetricSpec, values: list[float]) -> Markup:
    threshold = "" if use.threshold is None else f"; threshold {use.threshold:g}"
    return _figure(histogram(values, use), use.name, f"scores, {scale(use)}{threshold}")


def _trend(use: MetricSpec, runs: Sequence[RunEntry]) -> Markup | None:
    low, high = use.scale
    line = trend(use.name, runs, None if high is None else Range(low, high))
    return _figure(line, use.name, "mean, from run to run") if line else None


def _figure(chart: Markup, name: str, words: str) -> Markup:
    return tag("figure", tag("figcaption", tag("strong", named(name)), " ", words), chart)


def _heat_map(by: str, groups: Sequence[SummaryGroup], uses: Sequence[MetricSpec]) -> Markup:
    found = [group for group in groups if group.by == by]
    ranges = {use.name: _range(use, found) for use in uses}
    head: list[Child] = [by, "cases", "passed", *(named(use.name) for use in uses)]
    rows: list[list[Child]] = [
        [
            group.value,
            f"{group.cases.total:,}",
            f"{group.cases.passed:,}",
            *(_heat(group.means.get(use.name), use, ranges[use.name]) for use in uses),
        ]
        for group in found[:_MOST_GROUPS]
    ]
    left = len(found) - _MOST_GROUPS
    more = tag("p", f"And {left:,} more; all are in the JSON of the run.") if left > 0 else None
    return join([table(f"Mean of each metric by {by}", head, rows, "numbers heat"), more])


def _range(use: MetricSpec, groups: Sequence[SummaryGroup]) -> Range | None:
    """The scale of the metric or, if it has no end, what there is."""
    low, high = use.scale
    if high is not None:
        return Range(low, high)
    means = [group.means[use.name] for group in groups if use.name in group.means]
    return Range(min(means), max(means)) if len(set(means)) > 1 else None


def _heat(value: float | None, use: MetricSpec, span: Range | None) -> Markup:
    if value is None or span is None:
        return tag("span", number(value), class_="heat-none")
    share = span.place(value)
    goodness = 1 - share if use.better == "lower" else share
    return tag("span", number(value), class_=f"heat-{round(goodness * _STEPS)}")
