"""Attributes that a store keeps as nested objects, spelled out as dotted names again."""

from __future__ import annotations

import msgspec

from carob.schema import Json, Span

_HEADS = ("openinference", "llm", "gen_ai", "agentops", "traceloop", "ai", "gcp", "langsmith")
_DEPTH = 12
_LIMIT = 20_000
"""Attributes of one span that are spelled out."""


def flattened(span: Span) -> Span | None:
    """The span with dotted names, or `None` if its attributes are not nested."""
    attributes = span.attributes
    for head in _HEADS:
        if isinstance(attributes.get(head), dict):
            return msgspec.structs.replace(span, attributes=_spell(attributes))
    return None


def _spell(attributes: dict[str, Json]) -> dict[str, Json]:
    """Inner nodes keep their own name too: an object may be a value as well as a path."""
    found: dict[str, Json] = {}
    queue: list[tuple[str, Json, int]] = [(key, value, 0) for key, value in attributes.items()]
    for key, value, depth in queue:
        if len(found) >= _LIMIT:
            break
        found.setdefault(key, value)
        if depth >= _DEPTH:
            continue
        if isinstance(value, dict):
            queue.extend((f"{key}.{name}", inner, depth + 1) for name, inner in value.items())
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            queue.extend((f"{key}.{i}", inner, depth + 1) for i, inner in enumerate(value))
    return found
