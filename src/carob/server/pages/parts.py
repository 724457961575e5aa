"""Building blocks that several pages share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote, urlencode

import msgspec

from carob.report.html.parts import sign, stamp
from carob.report.markup import Child, Markup, join, tag
from carob.report.text_diff import compare_words
from carob.schema import Json, Status

__all__ = ["sign", "stamp"]
CHUNK = 100
"""Rows of one table body; browsers skip the layout of those that are off the screen."""
_MAX_TEXT = 20_000


def address(*parts: str, **query: str | int | None) -> str:
    """Return an address on this server; empty parameters are left out."""
    path = "/" + "/".join(quote(part, safe="@") for part in parts)
    values = {key.rstrip("_"): value for key, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(values)}" if values else path


def score(value: float | None) -> str:
    """Format a number without the zero before the point."""
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
    text = text.removeprefix("-").removeprefix("0") if abs(value) < 1 else text.removeprefix("-")
    return f"−{text}" if value < 0 else text


def delta(value: float | None, *, better: str = "higher") -> Markup | str:
    """Format a difference; worse is marked by sign and color."""
    if value is None:
        return ""
    if abs(value) < 0.005:
        return tag("span", "±0", class_="quiet")
    worse = value < 0 if better == "higher" else value > 0
    text = f"{'−' if value < 0 else '+'}{score(abs(value))} {'▼' if value < 0 else '▲'}"
    return tag("span", text, class_="failed" if worse else "passed")


def strip(statuses: Sequence[Status]) -> Markup | None:
    """Return the last verdicts of a case, oldest first; changing ones are called flaky."""
    if not statuses:
        return None
    changes = sum(a != b for a, b in pairwise(statuses))
    marks = [tag("span", _MARKS[status], class_=status, aria_hidden="true") for status in statuses]
    words = ", ".join(statuses)
    flaky = tag("span", " flaky", class_="flaky") if changes >= 3 else None
    label = tag("span", f"last {len(statuses)}: {words}", class_="unseen")
    return tag("span", marks, label, flaky, class_="strip")


_MARKS: dict[Status, str] = {
    "passed": "✓",
    "failed": "✗",
    "unscored": "–",
    "error": "!",
    "info": "·",
}


def rows_table(
    caption: str, head: Sequence[Child], rows: Iterable[Markup], class_: str = ""
) -> Markup:
    """Return a table of rows in chunks. `head` cells that start with `#` are numbers."""
    cells = [_head_cell(cell) for cell in head]
    all_rows = list(rows)
    bodies = [
        tag("tbody", all_rows[start : start + CHUNK]) for start in range(0, len(all_rows), CHUNK)
    ]
    content = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", tag("tr", cells)),
        bodies,
        class_=class_ or None,
        aria_rowcount=str(len(all_rows) + 1),
    )
    return tag("div", content, class_="scroll", role="region", aria_label=caption, tabindex="0")


def _head_cell(cell: Child) -> Markup:
    if isinstance(cell, str) and cell.startswith("#"):
        return tag("th", cell[1:], scope="col", class_="n")
    return tag("th", cell, scope="col") if cell else tag("td")


def filter_form(action: str, fields: Iterable[Markup], hidden: Mapping[str, str | None]) -> Markup:
    """Return a form that puts its fields into the address."""
    kept = [
        tag("input", type="hidden", name=name, value=value)
        for name, value in hidden.items()
        if value
    ]
    submit = tag("button", "Filter", type="submit")
    return tag("form", kept, fields, submit, action=action, class_="filters", role="search")


def choice(label: str, name: str, options: Sequence[tuple[str, str]], chosen: str | None) -> Markup:
    """Return a labelled drop-down; the empty value is `any`."""
    items = [
        tag("option", text, value=value, selected=(chosen or "") == value)
        for value, text in [("", "any"), *options]
    ]
    return tag("label", tag("span", label), tag("select", items, name=name))


def text_field(label: str, name: str, value: str | None) -> Markup:
    """Return a labelled search field."""
    field = tag("input", type="search", name=name, value=value or "", id="search", dir="auto")
    return tag("label", tag("span", label), field)


def diff_words(expected: str, actual: str) -> tuple[Markup, Markup]:
    """Return both texts with the words marked that differ."""
    pieces = compare_words(expected[:_MAX_TEXT], actual[:_MAX_TEXT])
    before = [p.expected if p.same else tag("del", p.expected) for p in pieces if p.expected]
    after = [p.actual if p.same else tag("ins", p.actual) for p in pieces if p.actual]
    return (
        join([before, _left_out(expected)]),
        join([after, _left_out(actual)]),
    )


def long_text(text: str) -> Markup:
    """Return a text, cut with its length if it is long."""
    return join([text[:_MAX_TEXT], _left_out(text)])


def _left_out(text: str) -> Markup | None:
    left = len(text) - _MAX_TEXT
    return tag("em", f" … {left:,} more characters", class_="quiet") if left > 0 else None


def value_text(value: Json) -> str:
    """Return a JSON value on one line."""
    return msgspec.json.encode(value).decode()


def moment(timestamp: str | None) -> Markup | str:
    """Return a time to the minute."""
    if not timestamp:
        return ""
    return tag("time", timestamp[:16].replace("T", " "), datetime=timestamp)


def empty(title: str, *content: Child) -> Markup:
    """Return what a page shows while there is nothing to show."""
    return tag("div", tag("h2", title), content, class_="empty")


def commands(*lines: str) -> Markup:
    """Return commands to copy."""
    return tag("pre", tag("code", "\n".join(lines)), tabindex="0")
