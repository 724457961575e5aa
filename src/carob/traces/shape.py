"""Read JSON of unknown shape. Nothing here raises: a value of the wrong type counts as missing."""

from __future__ import annotations

import ast
from functools import lru_cache

import msgspec

from carob.schema import Json

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

_MAX_LITERAL = 100_000
"""Longer Python literals are left as text: parsing them takes too long."""


def as_object(value: Json) -> dict[str, Json]:
    """Return the object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_array(value: Json) -> list[Json]:
    """Return the list, or an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: Json) -> list[dict[str, Json]]:
    """Return the objects in a list."""
    return [item for item in as_array(value) if isinstance(item, dict)]


def as_text(value: Json) -> str | None:
    """Return the string, or a number as a string."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text_or_none(value: Json) -> str | None:
    """Return the string; `None` if it is empty or not a string."""
    return value if isinstance(value, str) and value else None


def as_count(value: Json) -> int | None:
    """Return the whole number, also from a string, and cut off from a float."""
    if value is None or isinstance(value, bool | list | dict):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def to_integer(value: Json) -> int | None:
    """Return the whole number, also from a string of digits or a float without a fraction."""
    if type(value) is int:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return None


def first_value(item: dict[str, Json], *keys: str) -> Json:
    """Return the value of the first key that is present and not null."""
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def decode_structure(value: Json) -> Json:
    """Decode a string that holds a JSON object or list; return anything else as it is.

    Unlike `decode_json`, this leaves a quoted string alone: `"7"` in a file is the text `7`.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return _decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def decode_json(value: Json) -> Json:
    """Decode a string that holds a JSON object, list or string; return anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"', " ", "\n"):
        try:
            return _decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value
    return value


def parse_literal(value: str) -> Json:
    """Parse a Python literal such as `{'city': 'Paris'}`; return anything else as it is."""
    if not value.startswith(("{", "[")) or len(value) > _MAX_LITERAL:
        return value
    try:
        parsed: Json = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
    return parsed if isinstance(parsed, dict | list) else value


def to_text(value: Json) -> str:
    """Return a string as it is, and anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def fold_keys(item: dict[str, Json]) -> dict[str, Json]:
    """Return the object without nulls, its keys folded; of equal keys the first one counts."""
    return {fold_key(key): value for key, value in reversed(item.items()) if value is not None}


@lru_cache(maxsize=4096)
def fold_key(key: str) -> str:
    """Return `traceid` for `traceId`, `trace_id`, `trace-id` and `TraceID`."""
    return key.replace("_", "").replace("-", "").lower()
