"""Values out of attributes: JSON inside strings, numbers inside strings. Nothing here raises."""

from __future__ import annotations

import ast

import msgspec

from carob.schema import Json

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

REPR_LIMIT = 100_000
"""Longer Python literals are left as text: they are dumps, not arguments."""


def loads(value: Json) -> Json:
    """What a string says if it is a JSON object, array or string; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"', " ", "\n"):
        try:
            return _decode(value)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return value
    return value


def dumps(value: Json) -> str:
    """A value as text: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def literal(value: str) -> Json:
    """What a Python literal says, such as `{'city': 'Paris'}`; anything else as it is."""
    if not value.startswith(("{", "[")) or len(value) > REPR_LIMIT:
        return value
    try:
        found: Json = ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, dict | list) else value


def integer(value: Json) -> int | None:
    """A count, also where a container made it text or a float."""
    if type(value) is int:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return None


def text(value: Json) -> str | None:
    """A non-empty text, or nothing."""
    return value if isinstance(value, str) and value else None
