"""The section with the summary of a run."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.report.charts import proportions
from carob.report.html.parts import STATUSES, breakable, count_statuses, number, scale, table
from carob.report.judge_cost import USAGE_HEAD, usage_cells
from carob.report.markup import Child, Markup, join, tag
from carob.report.run import flaky_text
from carob.schema import MetricSpec, MetricSummary, ModeComparison, Run


def summary_section(run: Run) -> Markup:
    """Return case counts, the dataset, the metrics, judge costs and a comparison of modes."""
    return join(
        [
            _counts(run),
            _facts(run),
            _metrics(run),
            _judges(run),
            _attempts(run),
            [_modes(comparison) for comparison in run.summary.modes],
        ]
    )


def _attempts(run: Run) -> Markup:
    """Return pass@k, pass^k and the flaky cases of a run with repeated attempts."""
    attempts = run.summary.attempts
    if not attempts:
        return join([])
    rows: list[list[Child]] = [
        [f"{rate.k}", number(rate.any_passes), number(rate.all_pass), f"{rate.cases:,}"]
        for rate in attempts.rates
    ]
    flaky = tag("p", flaky_text(attempts)) if attempts.flaky else join([])
    head: list[Child] = ["k", "pass@k", "pass^k", "cases"]
    return join([table("Repeated attempts", head, rows, "numbers"), flaky])


def _counts(run: Run) -> Markup:
    counts = run.summary.cases
    items = [
        tag(
            "div",
            tag("dt", STATUSES[status].text),
            tag("dd", f"{value:,}"),
            class_=f"count {status}",
        )
        for status, value in count_statuses(counts).items()
    ]
    total = tag("div", tag("dt", "cases"), tag("dd", f"{counts.total:,}"), class_="count")
    return join([tag("dl", total, items, class_="counts"), proportions(counts)])


def _facts(run: Run) -> Markup:
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in _named_facts(run)]
    return tag("dl", facts, class_="facts")


def _named_facts(run: Run) -> Iterator[tuple[str, Child]]:
    if run.stopped:
        yield "stopped early", run.stopped
    if run.target:
        yield "live agent", run.target.name
    if run.dataset is None:
        yield "golden data", "none"
    else:
        version = f" {run.dataset.version}" if run.dataset.version else ", no version"
        form = f" ({run.dataset.format})" if run.dataset.format else ""
        yield "golden data", f"{run.dataset.name}{version}{form}"
        yield "digest", tag("code", run.dataset.digest)
    if run.summary.composite is not None:
        yield "mean composite", f"{run.summary.composite:.2f}"
    models = dict.fromkeys(use.judge.model for use in run.metrics if use.judge)
    if models:
        yield "judged by", ", ".join(models)
    mappers = sorted({case.mapper for case in run.cases if case.mapper})
    if mappers:
        yield "traces read by", ", ".join(mappers)


def _metrics(run: Run) -> Markup:
    uses = {use.name: use for use in run.metrics}
    names = dict.fromkeys([*uses, *run.summary.metrics])
    head: list[Child] = ["metric", "threshold", "mean", "min", "median", "p95", "max"]
    rows = [
        _metric(name, uses.get(name), run.summary.metrics.get(name, MetricSummary()))
        for name in names
    ]
    counts = [STATUSES[status].text for status in ("failed", "error", "unscored", "passed")]
    return table("Metrics", [*head, *counts], rows, "numbers")


def _metric(name: str, use: MetricSpec | None, summary: MetricSummary) -> list[Child]:
    threshold = (
        "" if use is None else "informational" if use.threshold is None else f"{use.threshold:g}"
    )
    values = (summary.mean, summary.min, summary.p50, summary.p95, summary.max)
    counts = (summary.failed, summary.errors, summary.unscored, summary.passed)
    return [
        join([breakable(name), _metric_details(use) if use else None]),
        threshold,
        *map(number, values),
        *(f"{value:,}" for value in counts),
    ]


def _metric_details(use: MetricSpec) -> Markup:
    params = [
        f"{name} = {msgspec.json.encode(value).decode()}" for name, value in use.params.items()
    ]
    return tag("small", "; ".join([f"version {use.version}, {scale(use)}", *params]))


def _judges(run: Run) -> Markup | None:
    if not run.spending:
        return None
    head: list[Child] = ["metric", *USAGE_HEAD]
    rows: list[list[Child]] = [
        [breakable(name), *usage_cells(usage)] for name, usage in run.spending.items()
    ]
    return table("Judge costs", head, rows, "numbers")


def _modes(comparison: ModeComparison) -> Markup:
    first, second = comparison.modes
    rows: list[list[Child]] = [
        [breakable(name), number(pair.means[0]), number(pair.means[1]), f"{pair.difference:+.3g}"]
        for name, pair in comparison.metrics.items()
    ]
    caption = f"{first} vs. {second}, {comparison.pairs:,} pairs of the same scenario"
    return table(caption, ["metric", first, second, "difference"], rows, "numbers")
