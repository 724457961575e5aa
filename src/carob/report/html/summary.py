"""What a run says as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.report.charts import proportions
from carob.report.html.parts import STATUSES, named, number, scale, table
from carob.report.judge_cost import SPENT, spent
from carob.report.markup import Child, Markup, join, tag
from carob.schema import MetricSpec, MetricSummary, ModeComparison, Run


def summary_section(run: Run) -> Markup:
    """Counts, where the golden data came from, the metrics, and modes side by side."""
    return join(
        [
            _counts(run),
            _facts(run),
            _metrics(run),
            _judges(run),
            [_modes(one) for one in run.summary.modes],
        ]
    )


def _counts(run: Run) -> Markup:
    counts = run.summary.cases
    numbers = (counts.failed, counts.errors, counts.unscored, counts.passed)
    items = [
        tag("div", tag("dt", word.words), tag("dd", f"{value:,}"), class_=f"count {status}")
        for (status, word), value in zip(STATUSES.items(), numbers, strict=True)
    ]
    total = tag("div", tag("dt", "cases"), tag("dd", f"{counts.total:,}"), class_="count")
    return join([tag("dl", total, items, class_="counts"), proportions(counts)])


def _facts(run: Run) -> Markup:
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in _named_facts(run)]
    return tag("dl", facts, class_="facts")


def _named_facts(run: Run) -> Iterator[tuple[str, Child]]:
    if run.stopped:
        yield "not everything was judged", run.stopped
    if run.dataset is None:
        yield "golden data", "none"
    else:
        version = f" {run.dataset.version}" if run.dataset.version else ", no version"
        form = f" ({run.dataset.format})" if run.dataset.format else ""
        yield "golden data", f"{run.dataset.name}{version}{form}"
        yield "fingerprint", tag("code", run.dataset.digest)
    if run.summary.composite is not None:
        yield "composite", f"{run.summary.composite:.2f} on average"
    models = dict.fromkeys(use.judge.model for use in run.metrics if use.judge)
    if models:
        yield "judged by", ", ".join(models)
    mappers = sorted({one.mapper for one in run.cases if one.mapper})
    if mappers:
        yield "recordings read by", ", ".join(mappers)


def _metrics(run: Run) -> Markup:
    uses = {use.name: use for use in run.metrics}
    names = dict.fromkeys([*uses, *run.summary.metrics])
    head: list[Child] = ["metric", "threshold", "mean", "min", "median", "p95", "max"]
    rows = [
        _metric(name, uses.get(name), run.summary.metrics.get(name, MetricSummary()))
        for name in names
    ]
    return table("Metrics", [*head, *(word.words for word in STATUSES.values())], rows, "numbers")


def _metric(name: str, use: MetricSpec | None, one: MetricSummary) -> list[Child]:
    threshold = "" if use is None else "informs" if use.threshold is None else f"{use.threshold:g}"
    values = (one.mean, one.min, one.p50, one.p95, one.max)
    counts = (one.failed, one.errors, one.unscored, one.passed)
    return [
        join([named(name), _about(use) if use else None]),
        threshold,
        *map(number, values),
        *(f"{value:,}" for value in counts),
    ]


def _about(use: MetricSpec) -> Markup:
    params = [
        f"{name} = {msgspec.json.encode(value).decode()}" for name, value in use.params.items()
    ]
    return tag("small", "; ".join([f"version {use.version}, {scale(use)}", *params]))


def _judges(run: Run) -> Markup | None:
    """What judges were asked for this run."""
    if not run.spending:
        return None
    head: list[Child] = ["metric", *SPENT]
    rows: list[list[Child]] = [[named(name), *spent(one)] for name, one in run.spending.items()]
    return table("What judges took", head, rows, "numbers")


def _modes(one: ModeComparison) -> Markup:
    first, second = one.modes
    rows: list[list[Child]] = [
        [named(name), number(pair.means[0]), number(pair.means[1]), f"{pair.difference:+.3g}"]
        for name, pair in one.metrics.items()
    ]
    caption = f"{first} against {second}, {one.pairs:,} pairs of the same scenario"
    return table(caption, ["metric", first, second, "difference"], rows, "numbers")
