"""Keys that a JSON object has twice. Every decoder takes the last and says nothing, so that the
others would be gone as soon as the file is written again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from carob.schema import Problem

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class _Places(list[str]):
    """What an object with such keys is decoded to; others are decoded to nothing."""


def doubled(data: bytes) -> Iterator[Problem]:
    """An error for each such key, at its path, in a text that is known to be JSON."""
    if _is_whole(data):
        return
    try:
        found = json.loads(data, object_pairs_hook=_object, parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return
    for place in _below(found):
        yield Problem(
            where=f"${place}",
            message="the key is there twice",
            hint="remove one of them; only the last one counts",
        )


def _is_whole(data: bytes) -> bool:
    """Whether nothing is lost by decoding; that is quick to find out, and mostly the case."""
    try:
        return _encode(_decode(data)) == msgspec.json.format(data, indent=-1)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _number(_text: str) -> None:
    return None


def _object(pairs: list[tuple[str, object]]) -> _Places | None:
    seen: set[str] = set()
    places = _Places()
    for key, value in pairs:
        if key in seen:
            places.append(f".{key}")
        seen.add(key)
        if value is not None and not isinstance(value, str):
            places += (f".{key}{place}" for place in _below(value))
    return places or None


def _below(value: object) -> Iterable[str]:
    if isinstance(value, _Places):
        yield from value
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - whatever JSON holds
            if isinstance(item, list):
                yield from (f"[{index}]{place}" for place in _below(item))  # pyright: ignore[reportUnknownArgumentType] - the same
