"""The metrics: what each needs, its scale, threshold and parameters."""

from __future__ import annotations

from typing import Literal

from carob.api import metrics as metrics_api
from carob.errors import NotFoundError
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import MetricInfo
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    choice,
    commands,
    filter_form,
    limit,
    rows_table,
    text_field,
)
from carob.server.pages.texts import inline_code, value_text

pages = Pages()


class MetricPath(Query, frozen=True):
    """A metric."""

    name: str


class MetricsQuery(Query, frozen=True):
    """Which metrics to list."""

    asks: Literal["model", "nothing"] | None = None
    q: str | None = None
    """Part of a name, a meaning, or of what a metric needs."""


@pages.get("/metrics")
def show_metrics(query: MetricsQuery) -> Page:
    """List the metrics."""
    everything = metrics_api.metrics()
    rows = [_row(metric) for metric in everything if _matches(metric, query)]
    head: list[Child] = ["metric", "meaning", "needs", "scale", "#threshold"]
    number = f"{len(rows):,} of {count(len(everything), 'metric')}"
    fields = [
        choice("asks a model", "asks", (("model", "yes"), ("nothing", "no")), query.asks),
        text_field("text in names and meanings", "q", query.q),
    ]
    return Page(
        title="Metrics",
        section="Metrics",
        content=[
            tag("h1", "Metrics"),
            filter_form("/metrics", fields, {}, region="metrics"),
            tag(
                "div",
                tag("p", number, class_="quiet", role="status"),
                rows_table("Metrics", head, rows, "list") if rows else None,
                id="metrics",
            ),
        ],
        command=("metrics",),
        keys=(("j k", "move"), ("enter", "open"), ("/", "search")),
    )


def _matches(metric: MetricInfo, query: MetricsQuery) -> bool:
    if query.asks and metric.judged != (query.asks == "model"):
        return False
    texts = (metric.name, metric.meaning, *metric.needs)
    return query.q is None or any(query.q.lower() in text.lower() for text in texts)


@pages.get("/metrics/{name}")
def show_metric(path: MetricPath) -> Page:
    """Show one metric."""
    metric = next((item for item in metrics_api.metrics() if item.name == path.name), None)
    if metric is None:
        raise NotFoundError(f"no metric named {path.name!r}", hint="see /metrics")
    facts = {
        "version": str(metric.version),
        "needs": ", ".join(metric.needs) or "nothing",
        "scale": _scale(metric),
        "threshold": _threshold(metric),
        "asks a model": "yes" if metric.judged else "no",
        "packages": ", ".join(metric.packages) or "none",
    }
    params = [
        tag("tr", tag("th", tag("code", name), scope="row"), tag("td", value_text(value)))
        for name, value in metric.params.items()
    ]
    return Page(
        title=metric.name,
        section="Metrics",
        crumbs=(("Metrics", "/metrics"), (metric.name, "")),
        content=[
            tag("h1", breakable(metric.name)),
            tag("p", inline_code(metric.description), class_="lead prose"),
            tag("dl", [[tag("dt", name), tag("dd", text)] for name, text in facts.items()]),
            tag("h2", "Parameters") if params else None,
            rows_table("Parameters", ["name", "default"], params) if params else None,
            tag("h2", "Use"),
            commands(f"carob run traces.jsonl --golden golden.json -m {metric.name}"),
        ],
        command=("metrics", metric.name),
    )


def _row(metric: MetricInfo) -> Markup:
    return tag(
        "tr",
        tag(
            "th",
            tag("a", breakable(metric.name), href=address("metrics", metric.name)),
            scope="row",
        ),
        tag("td", inline_code(metric.meaning), class_="wrap"),
        tag("td", ", ".join(metric.needs), class_="wrap"),
        tag("td", _scale(metric), class_="nowrap"),
        tag("td", _threshold(metric), class_="n"),
    )


def _scale(metric: MetricInfo) -> str:
    low, high = metric.scale
    ends = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return ends if metric.better == "higher" else f"{ends}, lower is better"


def _threshold(metric: MetricInfo) -> str:
    return "informs" if metric.threshold is None else limit(metric.threshold)
