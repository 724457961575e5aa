"""JSON of unknown shape, taken apart without surprises: the wrong type reads as absent."""

from __future__ import annotations

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


def parsed(value: Json) -> Json:
    """What a string of JSON says if it holds an object or a list; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def folded(item: dict[str, Json]) -> dict[str, Json]:
    """The object without nulls, and with `traceId`, `trace_id`, `TraceID` all under `traceid`."""
    return {fold(key): value for key, value in reversed(item.items()) if value is not None}


@lru_cache(maxsize=4096)
def fold(key: str) -> str:
    """A key in the one spelling for all: `traceid`."""
    return key.replace("_", "").replace("-", "").lower()
