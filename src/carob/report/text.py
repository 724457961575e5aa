"""Names, numbers and lists in text and Markdown reports.

Names and messages may come from untrusted files, so that every line of a report passes through
`printable`: a control character is shown as its code and cannot control the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]+")


def printable(text: str) -> str:
    """Replace characters that move the cursor, change colors or reverse the line."""
    return _CONTROL.sub(lambda match: _code(ord(match[0])), text)


def _code(number: int) -> str:
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def flat(text: str) -> str:
    """Put a name on one line: `a\\npassed: all` must not look like a line of the report."""
    return printable(_BREAK.sub(" ", text))


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `2 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def number(value: float | None) -> str:
    """Return a score or a mean: three digits, or all digits before the point, in groups."""
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def integers(*values: int) -> list[str]:
    """Return counts with their digits in groups."""
    return [f"{value:,}" for value in values]


def shortened(text: str, width: int = 88) -> str:
    """Put the text on one line and cut it to `width`."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def name_list(names: list[str] | tuple[str, ...], limit: int) -> str:
    """List the first names and count the others: `a, b and 3 more`."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def markdown_table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Return the lines of a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(markdown_cell, row))} |"


# Code hosts look for user names to notify after they have rendered the Markdown, so `\@name` would
# still notify somebody; a zero-width space after the @ prevents it.
_ESCAPES = str.maketrans({char: f"\\{char}" for char in "\\|<>[]`*_!&#"} | {"@": "@\u200b"})


def markdown_cell(value: str) -> str:
    """Escape text for Markdown: no links, tags, cell borders or notifications."""
    line = " ".join(printable(value).split()).translate(_ESCAPES)
    return line.replace("://", "\\://").replace("www.", "www\\.")
