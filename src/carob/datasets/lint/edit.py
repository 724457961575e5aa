"""Texts in a golden file replaced in its bytes: every other byte stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import msgspec

from carob.datasets.lint.check import Path

Change: TypeAlias = Callable[[Path, str], str]
"""The new text for a text at a place; a member's name is at the place of its object."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]')
_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n]*))(,|\r\n|\n|\r|\Z)')
_LINE_END = re.compile(r"\r\n|\n|\r")


class _Open(NamedTuple):
    """An object or a list that has not ended."""

    path: Path
    is_object: bool


def edit_json(data: bytes, change: Change) -> bytes:
    """A JSON text with its strings changed."""
    parts: list[bytes] = []
    end = 0
    for start, literal, path in _strings(data):
        text = msgspec.json.decode(literal, type=str)
        new = change(path, text)
        if new != text:
            parts += [data[end:start], msgspec.json.encode(new)]
            end = start + len(literal)
    return b"".join([*parts, data[end:]])


def _strings(data: bytes) -> Iterator[tuple[int, bytes, Path]]:
    """Every string with its place."""
    around: list[_Open] = []
    member: str | int = 0
    key: bool = False
    for token in _TOKEN.finditer(data):
        mark = token[0]
        inner = (*around[-1].path, member) if around else ()
        if mark in (b"{", b"["):
            around.append(_Open(inner, mark == b"{"))
            key, member = mark == b"{", 0
        elif mark in (b"}", b"]"):
            closed = around.pop()
            key, member = False, closed.path[-1] if closed.path else 0
        elif mark == b",":
            key = around[-1].is_object
            member = member + 1 if isinstance(member, int) and not key else member
        elif key:
            key, member = False, msgspec.json.decode(mark, type=str)
            yield token.start(), mark, around[-1].path
        else:
            yield token.start(), mark, inner


def edit_table(text: str, change: Callable[[int, str, str], str]) -> str:
    """A CSV text with its cells changed; a cell is known by the line on which its row starts and
    by its column."""
    columns: list[str] = []
    header = True
    parts: list[str] = []
    line = row_line = 1
    column = end = 0
    for cell in _CELL.finditer(text):
        quoted = cell[1] is not None
        value = cell[1].replace('""', '"') if quoted else cell[2]
        if header:
            columns.append(value)
        elif column < len(columns):
            new = change(row_line, columns[column], value)
            if new != value:
                parts += [text[end : cell.start()], _cell(new, quoted)]
                end = cell.end() - len(cell[3])
        line += len(_LINE_END.findall(cell[0]))
        column += 1
        if cell[3] != ",":
            row_line, column = line, 0
            header = header and columns == [""]
            columns = [] if header else columns
    return "".join([*parts, text[end:]])


def _cell(text: str, quoted: bool) -> str:
    quoted = quoted or any(sign in text for sign in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text
