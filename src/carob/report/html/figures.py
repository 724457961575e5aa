"""The section of charts: distributions, trends and heat maps."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence

from carob.report.charts import AxisRange, histogram, trend
from carob.report.html.parts import breakable, number, scale, table
from carob.report.markup import Child, Markup, join, tag
from carob.schema import MetricSpec, Run, SummaryGroup
from carob.schema.history import RunEntry

_SHADES = 8
"""Number of shades in a heat map."""
_MAX_GROUPS = 60
_MAX_SIDE_BY_SIDE = 3
"""Heat maps with more metrics are too wide to stand side by side."""


def chart_section(run: Run, earlier: Sequence[RunEntry]) -> Markup | None:
    """Return the distribution and trend of each metric, and a heat map for each property."""
    values = _values(run)
    uses = [use for use in run.metrics if values[use.name]]
    if not uses:
        return None
    runs = _by_time(earlier, _history_entry(run))
    distributions = [_distribution(use, values[use.name]) for use in uses]
    trends = [_trend(use, runs) for use in uses]
    properties = dict.fromkeys(group.by for group in run.summary.groups)
    maps = [_heat_map(by, run.summary.groups, uses) for by in properties]
    narrow = "maps" if len(uses) <= _MAX_SIDE_BY_SIDE else None
    return join(
        [tag("div", distributions, trends, class_="figures"), tag("div", maps, class_=narrow)]
    )


def _values(run: Run) -> Mapping[str, Sequence[float]]:
    """Return the scores of each metric, eight bytes each."""
    values: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    for case in run.cases:
        for score in case.scores:
            if score.value is not None:
                values[score.metric].append(score.value)
    return values


def _history_entry(run: Run) -> RunEntry:
    summaries = run.summary.metrics.items()
    means = {name: summary.mean for name, summary in summaries if summary.mean is not None}
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


def _by_time(earlier: Sequence[RunEntry], last: RunEntry) -> list[RunEntry]:
    """Return all runs, oldest first. The history may contain the last one already."""
    others = [run for run in earlier if (run.id, run.created_at) != (last.id, last.created_at)]
    return sorted([*others, last], key=lambda run: run.created_at)


def _distribution(use: MetricSpec, values: Sequence[float]) -> Markup:
    threshold = "" if use.threshold is None else f"; threshold {use.threshold:g}"
    return _figure(histogram(values, use), use.name, f"scores, {scale(use)}{threshold}")


def _trend(use: MetricSpec, runs: Sequence[RunEntry]) -> Markup | None:
    low, high = use.scale
    line = trend(use.name, runs, None if high is None else AxisRange(low, high))
    return _figure(line, use.name, "mean by run") if line else None


def _figure(chart: Markup, name: str, caption: str) -> Markup:
    return tag("figure", tag("figcaption", tag("strong", breakable(name)), " ", caption), chart)


def _heat_map(by: str, groups: Sequence[SummaryGroup], uses: Sequence[MetricSpec]) -> Markup:
    selected = [group for group in groups if group.by == by]
    ranges = {use.name: _range(use, selected) for use in uses}
    head: list[Child] = [by, "cases", "passed", *(breakable(use.name) for use in uses)]
    rows: list[list[Child]] = [
        [
            group.value,
            f"{group.cases.total:,}",
            f"{group.cases.passed:,}",
            *(_heat(group.means.get(use.name), use, ranges[use.name]) for use in uses),
        ]
        for group in selected[:_MAX_GROUPS]
    ]
    left = len(selected) - _MAX_GROUPS
    more = tag("p", f"And {left:,} more; use --format json to list all.") if left > 0 else None
    return join([table(f"Mean of each metric by {by}", head, rows, "numbers heat"), more])


def _range(use: MetricSpec, groups: Sequence[SummaryGroup]) -> AxisRange | None:
    """Return the scale of the metric or, if it is unbounded, the range of the means."""
    low, high = use.scale
    if high is not None:
        return AxisRange(low, high)
    means = [group.means[use.name] for group in groups if use.name in group.means]
    return AxisRange(min(means), max(means)) if len(set(means)) > 1 else None


def _heat(value: float | None, use: MetricSpec, span: AxisRange | None) -> Markup:
    if value is None or span is None:
        return tag("span", number(value), class_="heat-none")
    share = span.position(value)
    goodness = 1 - share if use.better == "lower" else share
    return tag("span", number(value), class_=f"heat-{round(goodness * _SHADES)}")
