from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.report.text import printable


def table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """A table, line by line."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |"


_MARKS = str.maketrans({char: f"\\{char}" for char in "\\|<>[]`*_!&#"} | {"@": "@\u200b"})
"""A code host looks for names to notify after it has read the Markdown, so that a backslash does
not help there; a blank of no width does."""


def cell(value: str) -> str:
    """Agents' text is data: nothing in it becomes a link, a tag or the end of a cell, or calls
    somebody."""
    flat = " ".join(printable(value).split()).translate(_MARKS)
    return flat.replace("://", "\\://").replace("www.", "www\\.")
