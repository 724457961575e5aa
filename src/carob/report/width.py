"""Text measured in terminal cells: a CJK character takes two, a combining mark none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# Spaces belong to the word before them. A CJK character is a word of its own, because such text
# has no spaces; the punctuation after it stays with it. Compiled on first use, because these sets
# take longer to compile than a small run takes.
_WORD = (
    r"[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]"
    r"[\u3001\u3002\uff01\uff09\uff0c\uff1a\uff1b\uff1f]*\s*"
    r"|[^\s\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+\s*"
    r"|\s+"
)
_NAME_PART = re.compile(r"[^_/:@=-]+[_/:@=-]*|[_/:@=-]+")


_LONG_WORD = 24
_SHORT_NAME = 16
"""Names of up to this length are split only in tables that would not fit otherwise."""


class TextSpan(NamedTuple):
    """A piece of a text, from the first character to the one before the last."""

    start: int
    end: int


def text_width(text: str) -> int:
    """Return how many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    # Late: most texts are ASCII, and a small run takes less time than reading the tables.
    import unicodedata

    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_text(text: str, width: int) -> str:
    """Cut the text to `width` cells; the last of them shows that something is missing."""
    if text_width(text) <= width:
        return text
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width - 1:
            return f"{text[:index].rstrip()}…"
    return text


def cut_words(text: str, width: int) -> str:
    """Cut the text between words, unless it has none, such as CJK text or one long address."""
    cut = cut_text(text, width)
    words = cut.rpartition(" ")[0].rstrip()
    return f"{words} …" if cut != text and len(cut) - len(words) < _LONG_WORD else cut


def pad_text(text: str, width: int) -> str:
    """Fill the text with spaces on its right."""
    return text + " " * (width - text_width(text))


def wrap_spans(text: str, first: int, others: int) -> Iterator[TextSpan]:
    """Split the text between words, into lines of at most `first` and then `others` cells. A word
    that is longer stays in one piece, so that paths and addresses can be copied."""
    start = end = used = 0
    limit = first
    for match in re.finditer(_WORD, text):
        word = match[0].rstrip()
        if used + text_width(word) > limit and text[start:end].strip():
            yield TextSpan(start, end)
            start, used, limit = match.start(), 0, others
        end = match.start() + len(word)
        used += text_width(match[0])
    yield TextSpan(start, end)


def wrap_cell(text: str, width: int, *, names: bool) -> list[str]:
    """Split the text of a table cell into lines. With `names`, a word that is too long is split
    after `_` and other punctuation, and a part that is still too long is cut."""
    if text_width(text) <= width:
        return [text]
    lines: list[str] = []
    for span in wrap_spans(text, width, width):
        piece = text[span.start : span.end]
        lines += _wrap_name(piece, width) if names and text_width(piece) > width else [piece]
    return lines


def _long_name_parts(name: str) -> list[str]:
    return [name] if text_width(name) <= _SHORT_NAME else _NAME_PART.findall(name)


def _wrap_name(name: str, width: int) -> Iterator[str]:
    line = ""
    for part in _NAME_PART.findall(name):
        if line and text_width(line + part) > width:
            yield cut_text(line, width)
            line = ""
        line += part
    if line:
        yield cut_text(line, width)


def longest_word(text: str, *, names: bool) -> int:
    """Return the width of the longest piece that `wrap_cell` keeps together."""
    words = [word.rstrip() for word in re.findall(_WORD, text)]
    if names:
        words = [part for word in words for part in _long_name_parts(word)]
    return max(map(text_width, words), default=0)
