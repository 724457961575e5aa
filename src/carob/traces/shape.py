"""JSON of unknown shape, taken apart without surprises: the wrong type reads as absent."""

from __future__ import annotations

import ast
from functools import lru_cache

import msgspec

from carob.schema import Json


def table(value: Json) -> dict[str, Json]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: Json) -> list[Json]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def tables(value: Json) -> list[dict[str, Json]]:
    """The objects of a list."""
    return [item for item in rows(value) if isinstance(item, dict)]


def text(value: Json) -> str | None:
    """The string, or a number as a string."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def count(value: Json) -> int | None:
    """A whole number, also when it was written as a string or a float."""
    if value is None or isinstance(value, bool | list | dict):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def first(item: dict[str, Json], *keys: str) -> Json:
    """The value of the first key that is there and not null."""
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def decode_structure(value: Json) -> Json:
    """What a string of JSON says if it holds an object or a list; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def fold_keys(item: dict[str, Json]) -> dict[str, Json]:
    """The object without nulls, and with `traceId`, `trace_id`, `TraceID` all under `traceid`."""
    return {fold_key(key): value for key, value in reversed(item.items()) if value is not None}


@lru_cache(maxsize=4096)
def fold_key(key: str) -> str:
    """A key in the one spelling for all: `traceid`."""
    return key.replace("_", "").replace("-", "").lower()


_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

REPR_LIMIT = 100_000
"""Longer Python literals are left as text: they are dumps, not arguments."""


def decode_json(value: Json) -> Json:
    """What a string says if it is a JSON object, array or string; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"', " ", "\n"):
        try:
            return _decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value
    return value


def to_text(value: Json) -> str:
    """A value as text: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def parse_literal(value: str) -> Json:
    """What a Python literal says, such as `{'city': 'Paris'}`; anything else as it is."""
    if not value.startswith(("{", "[")) or len(value) > REPR_LIMIT:
        return value
    try:
        found: Json = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, dict | list) else value


def to_integer(value: Json) -> int | None:
    """A count, also where a container made it text or a float."""
    if type(value) is int:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return None


def text_or_none(value: Json) -> str | None:
    """A non-empty text, or nothing."""
    return value if isinstance(value, str) and value else None
