"""The spans of a trace as waterfalls, folded under their turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from carob.api.views.case import CaseView
from carob.api.views.case_spans import SpanGroup, SpanRow, group_spans, mark_spans
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Turn
from carob.schema.trace import Span
from carob.server.pages.parts import rows_table
from carob.server.pages.texts import value_text

_INDENTS = 6
_FOLD = 500
"""In traces with more spans, those below the second level are folded, never dropped."""
_SHOWN_DEPTH = 2
_MAX_VALUE = 2000
_MAX_FOLDED_VALUE = 200
"""Characters of an attribute in traces with many spans, whose pages would be megabytes."""
_HEAD: tuple[Child, ...] = ("span", "kind", "time", "#duration", "#tokens", "attributes")


class TimeAxis(NamedTuple):
    """The time that a waterfall covers, in nanoseconds."""

    start: int
    length: int

    @classmethod
    def of(cls, spans: Sequence[Span]) -> TimeAxis:
        starts = [span.start for span in spans if span.start is not None]
        ends = [span.end for span in spans if span.end is not None]
        first = min(starts, default=0)
        return cls(first, max(max(ends, default=0) - first, 1))


def trace_spans(view: CaseView) -> Markup:
    """Return the spans that were saved with the trace of a case."""
    if view.trace is None or not view.trace.spans:
        text = (
            "No spans are stored with this run. carob run --keep-traces saves traces, and the "
            "spans of those that come from span files."
        )
        return tag("p", text, class_="note")
    marks = mark_spans(view)
    note = None
    if marks:
        text = f"{count(len(marks), 'span')} that a score points at, marked with ←"
        note = tag("p", text, class_="note")
    return waterfall(view.trace.spans, view.trace.turns, marks, note)


def waterfall(
    spans: Sequence[Span],
    turns: Sequence[Turn] = (),
    marks: dict[str, tuple[str, ...]] | None = None,
    note: Child = None,
) -> Markup:
    """Return spans as rows with bars, folded under their turns. Each turn has its own time axis:
    people take much longer between turns than agents within one."""
    groups = group_spans(spans, turns, marks)
    fold = len(spans) > _FOLD
    known = [group for group in groups if group.turn is not None]
    content: list[Child] = []
    for group in groups:
        table = _table(group, TimeAxis.of([row.span for row in group.rows]), fold)
        alone = len(groups) == 1 or (group.turn is None and not fold)
        content.append(table if alone else _fold_group(group, table, is_only=len(known) == 1))
    title = tag("h2", count(len(spans), "span"))
    return tag("section", title, note, content, aria_label="Spans")


def _fold_group(group: SpanGroup, table: Markup, *, is_only: bool) -> Markup:
    marked = any(row.marks for row in group.rows)
    name = "Outside of turns" if group.turn is None else f"Turn {group.turn}"
    numbers = [count(len(group.rows), "span"), _group_time(group)]
    facts = " · ".join(filter(None, numbers))
    summary = tag(
        "summary",
        tag("strong", name),
        tag("span", f" {facts} ", class_="quiet"),
        tag("span", "← why this failed", class_="why") if marked else None,
        tag("span", (group.user or "")[:300], class_="clamp", dir="auto") if group.user else None,
    )
    return tag("details", summary, table, class_="turn", open=marked or is_only)


def _group_time(group: SpanGroup) -> str:
    axis = TimeAxis.of([row.span for row in group.rows])
    return f"{axis.length / 1e6:,.0f} ms" if axis.length > 1 else ""


def _table(group: SpanGroup, axis: TimeAxis, fold: bool) -> Markup:
    name = "Spans" if group.turn is None else f"Spans of turn {group.turn}"
    rows = (
        _fold_rows(group.rows, axis, name)
        if fold
        else [_row(row, axis, _MAX_VALUE) for row in group.rows]
    )
    return rows_table(name, _HEAD, rows)


def _fold_rows(rows: Sequence[SpanRow], axis: TimeAxis, name: str) -> Iterator[Markup]:
    """Put deep spans into a row that unfolds, below the span that they belong to."""
    parent = ""
    for deep, part in groupby(rows, key=lambda row: row.depth >= _SHOWN_DEPTH):
        below = list(part)
        if not deep:
            parent = below[-1].span.name
            yield from (_row(row, axis, _MAX_FOLDED_VALUE) for row in below)
            continue
        marked = any(row.marks for row in below)
        summary = tag("summary", f"{count(len(below), 'span')} below ", tag("bdi", parent))
        rows_below = [_row(row, axis, _MAX_FOLDED_VALUE) for row in below]
        table = rows_table(f"{name} below {parent}", _HEAD, rows_below)
        inner = tag("details", summary, table, open=marked)
        yield tag("tr", tag("td", inner, colspan="6", class_="depth-2"))


def _row(row: SpanRow, axis: TimeAxis, longest: int) -> Markup:
    span = row.span
    attributes = [
        tag("div", tag("code", name), " ", _cut(value_text(value), longest))
        for name, value in span.attributes.items()
    ]
    marks = [tag("small", f"← {mark}", class_="why") for mark in row.marks]
    opened = tag("details", tag("summary", count(len(attributes), "attribute")), attributes)
    return tag(
        "tr",
        tag(
            "th",
            span.name or tag("span", "(no name)", class_="quiet"),
            marks,
            scope="row",
            class_=f"depth-{min(row.depth, _INDENTS)}",
            dir="auto",
        ),
        tag("td", _kind(span), class_="quiet"),
        tag("td", _bar(span, axis, marked=bool(marks)), class_="time"),
        tag("td", _duration(span), class_="n"),
        tag("td", _tokens(span), class_="n"),
        tag("td", opened if attributes else None, class_="wrap", dir="auto"),
        class_="pointed" if marks else None,
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… of {len(text):,} characters"


def _bar(span: Span, axis: TimeAxis, *, marked: bool) -> Markup | None:
    if span.start is None or span.end is None:
        return None
    left = 100 * (span.start - axis.start) / axis.length
    width = max(100 * (span.end - span.start) / axis.length, 0.5)
    fill = "fill-failed" if marked else "fill-error" if span.status == "error" else "fill-info"
    rect = tag("rect", x=min(left, 99.5), y=0, width=width, height=8, class_=fill)
    return tag(
        "svg",
        rect,
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def _duration(span: Span) -> str:
    if span.start is None or span.end is None:
        return ""
    return f"{(span.end - span.start) / 1e6:,.0f} ms"


def _kind(span: Span) -> Markup:
    operation = span.attributes.get("gen_ai.operation.name")
    name = (operation if isinstance(operation, str) else span.kind)[:60]
    failed = tag("span", " ! error", class_="error") if span.status == "error" else None
    return join([name, failed])


def _tokens(span: Span) -> str:
    counts = [span.attributes.get(f"gen_ai.usage.{side}_tokens") for side in ("input", "output")]
    known = [number for number in counts if isinstance(number, int)]
    return f"{sum(known):,}" if known else ""
