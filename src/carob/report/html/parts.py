"""Small pieces that several sections have in common."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from carob.report.markup import Child, Markup, join, tag
from carob.schema import MetricSpec, ScoreStatus, Status, Verdict

_MOST = 20_000
"""Characters of one text that are shown."""


class Word(NamedTuple):
    """How a status is shown; never by colour alone."""

    sign: str
    words: str


STATUSES: dict[Status, Word] = {
    "failed": Word("✗", "failed"),
    "error": Word("!", "with errors"),
    "unscored": Word("–", "unscored"),
    "passed": Word("✓", "passed"),
}
_SIGNS = {"info": "", "inconclusive": "?"} | {name: word.sign for name, word in STATUSES.items()}


@cache
def stamp(status: ScoreStatus | Verdict) -> Markup:
    """A status as a word with its sign."""
    sign = tag("span", _SIGNS[status], aria_hidden="true", class_="sign")
    return tag("span", sign, status, class_=f"stamp {status}")


@cache
def sign(status: ScoreStatus) -> Markup | None:
    """A status beside a number: the sign to see, the word to hear."""
    if not _SIGNS[status]:
        return None
    return tag("span", _SIGNS[status], class_=f"sign {status}", role="img", aria_label=status)


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def named(name: str) -> Markup:
    """A long name that may break at its underscores."""
    first, *rest = name.split("_")
    return join([first, [[tag("wbr"), f"_{part}"] for part in rest]])


def cut(text: str) -> str:
    """The text, without the end of one that nobody reads in a report."""
    left = len(text) - _MOST
    return text if left <= 0 else f"{text[:_MOST]}… and {left:,} more characters"


def table(caption: str, head: list[Child], rows: list[list[Child]], class_: str = "") -> Markup:
    """A table whose first column names the rows, in a region that scrolls sideways."""
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
    """Content that may be wider than the page; the keyboard can scroll it."""
    classes = f"scroll {kind}".rstrip()
    return tag("div", content, class_=classes, role="region", aria_label=label, tabindex="0")


def scale(use: MetricSpec) -> str:
    low, high = use.scale
    ends = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return f"{ends}, {use.better} is better"
