"""Texts that end: a small model writes on until it is cut off, and an answer that was cut off is
none. A grammar that allows only so many characters makes it come to its point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from carob.schema import Json

_LONGEST = 400
_LETTERS = 0.9
"""Characters of texts for each token of the limit: numbers and codes come to hardly more than one a
token, and there is more in an answer than its texts."""


def bounded(schema: Mapping[str, Json], max_tokens: int) -> dict[str, Json]:
    """The schema with a limit to each of its free texts, so that all of them fit."""
    count = max(1, _texts(schema))
    return _limited(schema, min(_LONGEST, max(1, int(_LETTERS * max_tokens / count))))


def _texts(node: Any) -> int:
    if isinstance(node, list):
        return sum(map(_texts, cast("list[Any]", node)))
    if not isinstance(node, Mapping):
        return 0
    held = cast("Mapping[str, Any]", node)
    return 1 if _is_text(held) else sum(map(_texts, held.values()))


def _limited(node: Any, limit: int) -> Any:
    if isinstance(node, list):
        return [_limited(one, limit) for one in cast("list[Any]", node)]
    if not isinstance(node, Mapping):
        return node
    held = cast("Mapping[str, Any]", node)
    if _is_text(held):
        return {**held, "maxLength": limit}
    return {key: _limited(value, limit) for key, value in held.items()}


def _is_text(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "string" and "enum" not in node
