"""JSON that a strict decoder refuses and that recorders write all the same.

Several values in a row, NaN and Infinity, numbers out of range, halves of surrogate pairs and
invalid UTF-8. What cannot be kept reads as null or as U+FFFD, and is named.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from carob.schema import Json

_SPACE = re.compile(r"[\s,]*")
_LONE = re.compile("[\ud800-\udfff]")


class BrokenError(ValueError):
    """Text that is no JSON at a line and column."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class DeepError(ValueError):
    """A value that is nested too deeply."""


def lenient(raw: bytes) -> Iterator[tuple[Json, list[str]]]:
    """Each value of the text, with what had to be repaired in it."""
    content, repairs = _decoded(raw)
    notes: list[str] = repairs
    decoder = json.JSONDecoder(
        parse_constant=lambda name: notes.append(f"{name} is no JSON, read as null"),
        parse_float=lambda digits: _finite(digits, notes),
    )
    position = _skip(content, 0)
    while position < len(content):
        value, position = _next(decoder, content, position, notes)
        yield value, list(dict.fromkeys(notes))
        notes.clear()
        position = _skip(content, position)


def _decoded(raw: bytes) -> tuple[str, list[str]]:
    try:
        return raw.decode(), []
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), ["invalid UTF-8, read as U+FFFD"]


def _skip(content: str, position: int) -> int:
    found = _SPACE.match(content, position)
    return found.end() if found else position


def _next(
    decoder: json.JSONDecoder, content: str, position: int, notes: list[str]
) -> tuple[Json, int]:
    try:
        value, end = decoder.raw_decode(content, position)
        return _scrubbed(value, notes), end
    except RecursionError:
        raise DeepError from None
    except json.JSONDecodeError as error:
        raise BrokenError(f"broken JSON: {error.msg}", error.lineno, error.colno) from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise BrokenError(f"broken JSON: {error}") from None


def _finite(digits: str, notes: list[str]) -> float | None:
    number = float(digits)
    if math.isfinite(number):
        return number
    notes.append("a number is out of range, read as null")
    return None


def _scrubbed(value: Json, notes: list[str]) -> Json:
    """The value without halves of surrogate pairs, which no file or terminal can hold."""
    if isinstance(value, str):
        if not _LONE.search(value):
            return value
        notes.append("half of a surrogate pair, read as U+FFFD")
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_scrubbed(item, notes) for item in value]
    if isinstance(value, dict):
        return {str(_scrubbed(key, notes)): _scrubbed(held, notes) for key, held in value.items()}
    return value
