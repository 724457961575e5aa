"""Parse JSON that a strict decoder refuses and that exporters write all the same.

Several values in a row, NaN and Infinity, numbers out of range, halves of surrogate pairs and
invalid UTF-8. Anything that JSON cannot hold becomes null or U+FFFD, and is reported.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from carob.schema import Json

_SEPARATORS = re.compile(r"[\s,]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class LenientError(ValueError):
    """Text that is not JSON, with the line and column where it stops being JSON."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class DeepError(ValueError):
    """A value that is nested too deeply."""


def parse_lenient(raw: bytes) -> Iterator[tuple[Json, list[str]]]:
    """Each value of the text, with the repairs that it needed."""
    content, repairs = _decode_utf8(raw)
    decoder = json.JSONDecoder(
        parse_constant=lambda name: repairs.append(f"{name} is not JSON, read as null"),
        parse_float=lambda digits: _parse_float(digits, repairs),
    )
    position = _skip_separators(content, 0)
    while position < len(content):
        value, position = _parse_next(decoder, content, position, repairs)
        yield value, list(dict.fromkeys(repairs))
        repairs.clear()
        position = _skip_separators(content, position)


def _decode_utf8(raw: bytes) -> tuple[str, list[str]]:
    try:
        return raw.decode(), []
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), ["invalid UTF-8, read as U+FFFD"]


def _skip_separators(content: str, position: int) -> int:
    match = _SEPARATORS.match(content, position)
    return match.end() if match else position


def _parse_next(
    decoder: json.JSONDecoder, content: str, position: int, repairs: list[str]
) -> tuple[Json, int]:
    try:
        value, end = decoder.raw_decode(content, position)
        return _replace_surrogates(value, repairs), end
    except RecursionError:
        raise DeepError from None
    except json.JSONDecodeError as error:
        raise LenientError(f"broken JSON: {error.msg}", error.lineno, error.colno) from None
    except ValueError as error:  # an integer with more digits than Python converts
        raise LenientError(f"broken JSON: {error}") from None


def _parse_float(digits: str, repairs: list[str]) -> float | None:
    number = float(digits)
    if math.isfinite(number):
        return number
    repairs.append("a number is out of range, read as null")
    return None


def _replace_surrogates(value: Json, repairs: list[str]) -> Json:
    """The value without halves of surrogate pairs, which UTF-8 cannot encode."""
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        repairs.append("half of a surrogate pair, read as U+FFFD")
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_replace_surrogates(item, repairs) for item in value]
    if isinstance(value, dict):
        return {
            str(_replace_surrogates(key, repairs)): _replace_surrogates(item, repairs)
            for key, item in value.items()
        }
    return value
