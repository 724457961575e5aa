"""The values that a field allows, where they can be counted."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor

import msgspec
from msgspec import inspect

MOST = 200
"""More values than this are a measure, not a choice."""


@lru_cache(maxsize=256)
def allowed(answer: type[msgspec.Struct], field: str) -> tuple[str, ...]:
    """By their JSON text without quotes; none if there are too many."""
    kind = _field(answer, field)
    return () if kind is None else _texts(kind)


@lru_cache(maxsize=256)
def words(answer: type[msgspec.Struct], field: str | None) -> tuple[str, ...]:
    """The words to choose from, if an answer is this choice and texts that may be left empty."""
    kind = _field(answer, field) if field else None
    if not isinstance(kind, inspect.LiteralType):
        return ()
    found = tuple(one for one in kind.values if isinstance(one, str) and one.strip())
    others = [one.type for one in _fields(answer) if one.encode_name != field]
    plain = all(one == inspect.StrType() for one in others)
    return found if plain and len(found) == len(kind.values) else ()


def _fields(answer: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    found = inspect.type_info(answer)
    return found.fields if isinstance(found, inspect.StructType) else ()


def _field(answer: type[msgspec.Struct], name: str) -> inspect.Type | None:
    return next((one.type for one in _fields(answer) if one.encode_name == name), None)


def _texts(kind: inspect.Type) -> tuple[str, ...]:
    if isinstance(kind, inspect.UnionType):
        parts = [_texts(one) for one in kind.types]
        return tuple(text for part in parts for text in part) if all(parts) else ()
    if isinstance(kind, inspect.LiteralType):
        return tuple(_text(one) for one in kind.values)
    if isinstance(kind, inspect.BoolType):
        return ("true", "false")
    if isinstance(kind, inspect.NoneType):
        return ("null",)
    return _numbers(kind) if isinstance(kind, inspect.IntType) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _numbers(kind: inspect.IntType) -> tuple[str, ...]:
    low = kind.ge if kind.ge is not None else None if kind.gt is None else floor(kind.gt) + 1
    high = kind.le if kind.le is not None else None if kind.lt is None else ceil(kind.lt) - 1
    if low is None or high is None or high - low >= MOST:
        return ()
    step = kind.multiple_of or 1
    return tuple(str(one) for one in range(ceil(low), floor(high) + 1) if one % step == 0)
