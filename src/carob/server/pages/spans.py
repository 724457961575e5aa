"""The spans of a trace as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Trace
from carob.schema.trace import Span
from carob.server.pages.parts import rows_table, value_text

_MAX_DEPTH = 12
_FOLD = 500
"""More spans are folded below the second level, never dropped."""


def trace_spans(trace: Trace | None) -> Markup:
    """Return the spans that were saved with the trace of a case."""
    if trace is None or not trace.spans:
        text = (
            "No spans are stored with this run. carob run --keep-traces saves traces, and the "
            "spans of those that come from span files."
        )
        return tag("p", text, class_="note")
    return waterfall(trace.spans)


def waterfall(spans: Sequence[Span]) -> Markup:
    """Return spans as rows with bars on a common time axis."""
    depths = _depths(spans)
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    first, last = min(starts, default=0), max(ends, default=0)
    rows = [_row(span, depths.get(span.span_id, 0), first, max(last - first, 1)) for span in spans]
    shown, folded = rows, list[Markup]()
    if len(rows) > _FOLD:
        both = list(zip(spans, rows, strict=True))
        shown = [row for span, row in both if depths.get(span.span_id, 0) < 2]
        folded = [row for span, row in both if depths.get(span.span_id, 0) >= 2]
    head: list[Child] = ["span", "kind", "time", "#duration", "#tokens", "attributes"]
    more = tag(
        "details",
        tag("summary", f"{count(len(folded), 'span')} below the second level"),
        rows_table("Deeper spans", head, folded),
    )
    title = tag("h2", count(len(spans), "span"))
    return tag("section", title, rows_table("Spans", head, shown), more if folded else None)


def _depths(spans: Sequence[Span]) -> dict[str, int]:
    parents = {span.span_id: span.parent_id for span in spans}
    depths: dict[str, int] = {}
    for span in spans:
        depth, parent = 0, span.parent_id
        while parent in parents and depth < _MAX_DEPTH:
            depth, parent = depth + 1, parents[parent]
        depths[span.span_id] = depth
    return depths


def _row(span: Span, depth: int, first: int, length: int) -> Markup:
    start, end = span.start, span.end
    bar = duration = None
    if start is not None and end is not None:
        left, width = 100 * (start - first) / length, max(100 * (end - start) / length, 0.5)
        rect = tag("rect", x=left, y=0, width=width, height=8, class_="fill-info")
        bar = tag(
            "svg",
            rect,
            viewBox="0 0 100 8",
            preserveAspectRatio="none",
            class_="bar",
            aria_hidden="true",
        )
        duration = f"{(end - start) / 1e6:,.0f} ms"
    attributes = [
        tag("div", tag("code", name), " ", value_text(value)[:2000])
        for name, value in span.attributes.items()
    ]
    return tag(
        "tr",
        tag("th", span.name, scope="row", class_=f"depth-{min(depth, 6)}", dir="auto"),
        tag("td", _kind(span), class_="quiet"),
        tag("td", bar, class_="time"),
        tag("td", duration or "", class_="n"),
        tag("td", _tokens(span), class_="n"),
        tag(
            "td",
            tag("details", tag("summary", count(len(attributes), "attribute")), attributes)
            if attributes
            else None,
            class_="wrap",
            dir="auto",
        ),
    )


def _kind(span: Span) -> str:
    operation = span.attributes.get("gen_ai.operation.name")
    failed = " !" if span.status == "error" else ""
    return f"{operation if isinstance(operation, str) else span.kind}{failed}"[:60]


def _tokens(span: Span) -> str:
    counts = [span.attributes.get(f"gen_ai.usage.{side}_tokens") for side in ("input", "output")]
    known = [number for number in counts if isinstance(number, int)]
    return f"{sum(known):,}" if known else ""
