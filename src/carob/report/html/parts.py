"""Building blocks that several sections share."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from carob.report.markup import Child, Markup, join, tag
from carob.schema import CaseCounts, MetricSpec, Status, Verdict

_MAX_CHARACTERS = 20_000
"""Longer texts are cut."""


class StatusText(NamedTuple):
    """How a status is shown; never by color alone."""

    sign: str
    text: str


STATUSES: dict[Status, StatusText] = {
    "failed": StatusText("✗", "failed"),
    "error": StatusText("!", "with errors"),
    "unscored": StatusText("–", "unscored"),
    "passed": StatusText("✓", "passed"),
    "info": StatusText("", "informational"),
}
_SIGNS = {"inconclusive": "?", "informational": ""} | {
    name: status.sign for name, status in STATUSES.items()
}


def count_statuses(counts: CaseCounts) -> dict[Status, int]:
    """Return the number of cases by status. Only informational ones may be missing."""
    numbers: dict[Status, int] = {
        "failed": counts.failed,
        "error": counts.errors,
        "unscored": counts.unscored,
        "passed": counts.passed,
    }
    info = counts.total - sum(numbers.values())
    if info:
        numbers["info"] = info
    return numbers


@cache
def stamp(status: Status | Verdict) -> Markup:
    """Return a status as a word with its sign."""
    sign = tag("span", _SIGNS[status], aria_hidden="true", class_="sign")
    return tag("span", sign, status, class_=f"stamp {status}")


@cache
def sign(status: Status) -> Markup | None:
    """Return the sign of a status; screen readers read the word."""
    if not _SIGNS[status]:
        return None
    return tag("span", _SIGNS[status], class_=f"sign {status}", role="img", aria_label=status)


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def breakable(name: str) -> Markup:
    """Return a long name that may break at its underscores."""
    first, *rest = name.split("_")
    return join([first, [[tag("wbr"), f"_{part}"] for part in rest]])


def mark(name: str, text: str) -> Markup:
    """Return marked words; the space around them is not part of the mark."""
    words = text.strip()
    if not words:
        return tag(name, text)
    start = text.index(words)
    return join([text[:start], tag(name, words), text[start + len(words) :]])


def cut(text: str) -> str:
    """Return the text, cut if it is too long for a report."""
    left = len(text) - _MAX_CHARACTERS
    return text if left <= 0 else f"{text[:_MAX_CHARACTERS]}… and {left:,} more characters"


def table(caption: str, head: list[Child], rows: list[list[Child]], class_: str = "") -> Markup:
    """Return a table with row headers, in a region that scrolls horizontally."""
    columns = [tag("th", cell, scope="col") for cell in head]
    body = [
        tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    return scrolling(
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", columns)),
            tag("tbody", body),
            class_=class_ or None,
        ),
        caption,
    )


def scrolling(content: Markup, label: str, kind: str = "") -> Markup:
    """Return a region for wide content, which the keyboard can scroll."""
    classes = f"scroll {kind}".rstrip()
    return tag("div", content, class_=classes, role="region", aria_label=label, tabindex="0")


def scale(use: MetricSpec) -> str:
    low, high = use.scale
    ends = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return f"{ends}, {use.better} is better"
