"""The layout of text reports: lines that wrap, tables that fit, and colors.

A report is a sequence of lines and tables, which `join_lines` lays out for a `Display`: a terminal
has a width and may have colors; a file and a pipe have neither, and always get the same bytes.
Names and messages may come from untrusted files, so that every part of a line passes through
`printable` before it is colored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple, TypeAlias

from carob.report.text import flat, printable
from carob.report.width import (
    TextSpan,
    cut_words,
    longest_word,
    pad_text,
    text_width,
    wrap_cell,
    wrap_spans,
)


class Display(NamedTuple):
    """Where a report is shown."""

    width: int | None = None
    """Columns of the terminal; `None` for files and pipes, whose lines are never wrapped."""
    color: bool = False


PLAIN = Display()

Style = Literal["good", "bad", "warn", "strong", "hint", "dim", "added", "removed"]
_CODES: dict[Style, str] = {
    "good": "32",
    "bad": "1;31",
    "warn": "33",
    "strong": "1",
    "hint": "36",
    "dim": "2",
    "added": "1;32",
    "removed": "31;9",
}
_STATUS_STYLES: dict[str, Style] = {
    "passed": "good",
    "improved": "good",
    "equivalent": "good",
    "valid": "good",
    "approved": "good",
    "calibrated": "good",
    "failed": "bad",
    "regressed": "bad",
    "broke": "bad",
    "not valid": "bad",
    "not calibrated": "bad",
    "error": "bad",
    "major": "bad",
    "warning": "warn",
    "inconclusive": "warn",
    "unscored": "warn",
    "flaky": "warn",
    "draft": "warn",
    "minor": "warn",
    "fixed": "good",
    "note": "hint",
    "hint": "hint",
    "informational": "dim",
    "quarantined": "dim",
}


class Painted(NamedTuple):
    """A part of a line in a style."""

    text: str
    style: Style


Part: TypeAlias = str | Painted


class Line(NamedTuple):
    """A line of several parts. On a terminal, it is wrapped between words."""

    parts: tuple[Part, ...]


class Paragraph(NamedTuple):
    """Text that is wrapped everywhere, in files and pipes at 100 characters. The lines after the
    first are indented by `hang` columns."""

    parts: tuple[Part, ...]
    hang: int


class Preview(NamedTuple):
    """The start of a text that may be long, on one line: as much as fits on a terminal, and at most
    `width` characters in files and pipes."""

    label: str
    text: str
    width: int = 88


class TextTable(NamedTuple):
    """Rows of cells, the first of which are headings. Columns in `left` contain text, aligned to
    the left; the others contain numbers, aligned to the right."""

    rows: Sequence[Sequence[Part]]
    left: Collection[int] = (0,)
    cut: Collection[int] = ()
    """Columns of text that is cut to two lines on terminals that are too narrow."""
    indent: int = 0
    headed: bool = True
    below: Sequence[Part] = ()
    """A line below each row but the headings, if it is not empty."""


Block: TypeAlias = str | Painted | Line | Paragraph | Preview | TextTable


def line(*parts: Part) -> Line:
    """Return a line of several parts."""
    return Line(parts)


def status(word: str, text: str | None = None) -> Part:
    """Return a status or verdict in its color, or another text in the color of the status."""
    style = _STATUS_STYLES.get(word)
    return Painted(text or word, style) if style else text or word


def join_lines(blocks: Iterable[Block], display: Display = PLAIN) -> str:
    """Return a report as text that ends with a line break."""
    return "".join(f"{text}\n" for block in blocks for text in _lay_out(block, display))


def _lay_out(block: Block, display: Display) -> Iterator[str]:
    match block:
        case TextTable():
            yield from _table_lines(block, display)
        case Preview():
            yield _preview_line(block, display)
        case Line():
            yield from _wrap_lines(block.parts, display)
        case Paragraph(parts, hang):
            wide = display._replace(width=display.width or _PARAGRAPH_WIDTH)
            yield from _wrap_lines(parts, wide, hang)
        case _:
            yield from _wrap_lines((block,), display)


def _preview_line(preview: Preview, display: Display) -> str:
    # Cut before splitting: the text may be megabytes long, and only its start is shown.
    limit = 4 * max(preview.width, display.width or 0)
    text = flat(" ".join(preview.text[:limit].split()))
    label = printable(preview.label)
    if display.width is None:
        text = text if len(text) <= preview.width else f"{text[: preview.width - 1]}…"
        return label + text
    return cut_words(label + text, display.width)


def _wrap_lines(parts: Sequence[Part], display: Display, hang: int | None = None) -> Iterator[str]:
    """Wrap a line between words. Lines after the first are indented by `hang` columns, or by two
    more than the first."""
    painted = [_as_painted(part, printable) for part in parts]
    text = "".join(text for text, _ in painted)
    position = 0
    for row in text.split("\n"):
        indent = len(row) - len(row.lstrip(" ")) + 2 if hang is None else hang
        spans: Iterable[TextSpan] = (TextSpan(0, len(row)),)
        if display.width is not None and text_width(row) > display.width:
            spans = wrap_spans(row, display.width, max(display.width - indent, 20))
        for number, span in enumerate(spans):
            start, end = position + span.start, position + span.end
            yield (" " * indent if number else "") + _paint_span(painted, start, end, display)
        position += len(row) + 1


def _as_painted(part: Part, clean: Callable[[str], str]) -> tuple[str, Style | None]:
    if isinstance(part, Painted):
        return clean(part.text), part.style
    return clean(part), None


def _paint_span(
    parts: Sequence[tuple[str, Style | None]], start: int, end: int, display: Display
) -> str:
    pieces: list[str] = []
    for text, style in parts:
        pieces.append(_paint(text[max(start, 0) : max(end, 0)], style, display))
        start, end = start - len(text), end - len(text)
    return "".join(pieces)


def _paint(text: str, style: Style | None, display: Display) -> str:
    if style is None or not text or not display.color:
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


_PARAGRAPH_WIDTH = 100
_GAP = "  "
_MAX_CUT_LINES = 2
_MIN_NAME, _MIN_CUT = 12, 8
"""Widths that columns of text keep before a table becomes a list of records."""


def _table_lines(table: TextTable, display: Display) -> Iterator[str]:
    rows = [[_as_painted(cell, flat) for cell in row] for row in table.rows]
    texts = [[text for text, _ in row] for row in rows]
    widths = _column_widths(table, texts, display.width)
    if widths is None:
        yield from _records(table, rows, display)
        return
    for number, row in enumerate(rows):
        head: Style | None = "strong" if table.headed and number == 0 else None
        cells = [
            _cell_lines(table, index, text, width)
            for index, ((text, _), width) in enumerate(zip(row, widths, strict=True))
        ]
        for pieces in zip_longest(*cells, fillvalue=""):
            line = _GAP.join(
                _pad(piece, width, index not in table.left, row[index][1] or head, display)
                for index, (piece, width) in enumerate(zip(pieces, widths, strict=True))
            )
            yield f"{' ' * table.indent}{line}".rstrip()
        if table.below and number >= table.headed:
            yield from _below(table, table.below[number - table.headed], display)


def _below(table: TextTable, part: Part, display: Display) -> Iterator[str]:
    text, style = _as_painted(part, flat)
    if text:
        painted = Painted(text, style) if style else text
        yield from _wrap_lines((" " * (table.indent + 2), painted), display)


def fits(table: TextTable, display: Display) -> bool:
    """Whether a table fits the display without wrapping its cells."""
    if display.width is None:
        return True
    texts = [[_as_painted(cell, flat)[0] for cell in row] for row in table.rows]
    widths = [max(map(text_width, column)) for column in zip(*texts, strict=True)]
    return table.indent + sum(widths) + len(_GAP) * (len(widths) - 1) <= display.width


def _cell_lines(table: TextTable, column: int, text: str, width: int) -> list[str]:
    lines = wrap_cell(text, width, names=column in table.left)
    if column in table.cut and len(lines) > _MAX_CUT_LINES:
        return [lines[0], cut_words(" ".join(lines[1:]), width)]
    return lines


def _pad(text: str, width: int, right: bool, style: Style | None, display: Display) -> str:
    space = " " * (width - text_width(text))
    painted = _paint(text, style, display)
    return space + painted if right else painted + space


def _column_widths(
    table: TextTable, texts: Sequence[Sequence[str]], width: int | None
) -> list[int] | None:
    """Return the widths of the columns, or `None` if the table is too wide for the terminal even
    with all cells wrapped."""
    columns = list(zip(*texts, strict=True))
    natural = [max(map(text_width, column)) for column in columns]
    if width is None:
        return natural
    budget = width - table.indent - len(_GAP) * (len(columns) - 1)
    least = [
        max(longest_word(cell, names=index in table.left) for cell in column)
        for index, column in enumerate(columns)
    ]
    limits = [
        _MIN_CUT if index in table.cut else _MIN_NAME if index in table.left else width
        for index in range(len(columns))
    ]
    shortest = [min(pair) for pair in zip(least, limits, strict=True)]
    for minimum in (least, shortest):
        if sum(minimum) <= budget:
            return _shrink(natural, minimum, budget)
    return None


def _shrink(natural: Sequence[int], minimum: Sequence[int], budget: int) -> list[int]:
    """Narrow the widest columns first, until all fit."""
    cap = max(natural, default=0)
    widths = list(natural)
    while sum(widths) > budget:
        cap -= 1
        widths = [min(width, max(low, cap)) for width, low in zip(natural, minimum, strict=True)]
    return widths


def _records(
    table: TextTable, rows: Sequence[Sequence[tuple[str, Style | None]]], display: Display
) -> Iterator[str]:
    """Show a table that is too wide as a block of lines for each row."""
    head, *records = rows if table.headed else [[("", None)] * len(rows[0]), *rows]
    label_width = max(text_width(text) for text, _ in head[1:])
    for (title, style), *cells in records:
        yield from _wrap_lines((" " * table.indent, Painted(title, style or "strong")), display)
        for (label, _), (text, style) in zip(head[1:], cells, strict=True):
            space = " " * (table.indent + 2)
            part = Painted(text, style) if style else text
            yield from _wrap_lines((f"{space}{pad_text(label, label_width)}  ", part), display)
