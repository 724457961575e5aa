from __future__ import annotations

from collections.abc import Iterable, Iterator

from karat.report.text import printable


def table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """A table, line by line."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |"


def cell(value: str) -> str:
    """Agents' text is data: nothing in it becomes a link, a tag or the end of a cell."""
    flat = " ".join(printable(value).split())
    return "".join(f"\\{char}" if char in "\\|<>[]`*_!&#@" else char for char in flat)
