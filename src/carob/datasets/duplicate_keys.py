"""Duplicate keys in JSON objects.

Every decoder silently keeps the last value, so the others would be lost as soon as the file is
written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from carob.schema import Problem

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class _KeyPaths(list[str]):
    """Decoded form of an object that contains duplicate keys: their paths, relative to it.

    An object without any is decoded to `None`, so the memory is that of the duplicates alone.
    """


def find_duplicate_keys(data: bytes) -> Iterator[Problem]:
    """An error for each duplicate key in a text that is known to be JSON."""
    if _survives_decoding(data):
        return
    try:
        root = json.loads(data, object_pairs_hook=_object, parse_int=_ignore, parse_float=_ignore)
    except (ValueError, RecursionError):
        return
    for path in _paths_below(root):
        yield Problem(
            where=f"${path}",
            message="duplicate key",
            hint="remove one of them; only the last is read",
        )


def _survives_decoding(data: bytes) -> bool:
    """Whether encoding the decoded text gives the text without white space.

    True for nearly all files, and much faster than the search in Python. False also for numbers
    such as `1.0e3`, which the search then clears.
    """
    try:
        return _encode(_decode(data)) == msgspec.json.format(data, indent=-1)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _ignore(_number: str) -> None:
    return None


def _object(pairs: list[tuple[str, object]]) -> _KeyPaths | None:
    keys: set[str] = set()
    paths = _KeyPaths()
    for key, value in pairs:
        if key in keys:
            paths.append(f".{key}")
        keys.add(key)
        if value is not None and not isinstance(value, str):
            paths += (f".{key}{path}" for path in _paths_below(value))
    return paths or None


def _paths_below(value: object) -> Iterable[str]:
    if isinstance(value, _KeyPaths):
        yield from value
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any JSON value
            if isinstance(item, list):
                yield from (f"[{index}]{path}" for path in _paths_below(item))  # pyright: ignore[reportUnknownArgumentType] - any JSON value
