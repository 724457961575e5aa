"""Tables that are not written row by row: those of queries, and pandas' orientations."""

from __future__ import annotations

from carob.schema import Json
from carob.traces.shape import rows, table, text

_SPANS = frozenset(("context.span_id", "span_id", "spanId", "SpanId", "id", "trace_id"))


def unframed(item: Json) -> list[dict[str, Json]] | None:
    """The rows of a table, or `None` if it is none."""
    held = table(item)
    if isinstance(columns := held.get("columns"), list) and columns:
        return _split(columns, rows(held.get("rows")) or rows(held.get("data")))
    if not held or not all(isinstance(inner, dict) for inner in held.values()):
        return None
    if not _SPANS.isdisjoint(held):  # by column, then by index
        return _turned(held)
    inner = [table(row) for row in held.values()]  # by index, then by column
    return inner if not _SPANS.isdisjoint(inner[0]) else None


def _split(columns: list[Json], listed: list[Json]) -> list[dict[str, Json]] | None:
    names = [text(column) or text(table(column).get("name")) or "" for column in columns]
    found = [dict(zip(names, row, strict=False)) for row in listed if isinstance(row, list)]
    return found or None


def _turned(held: dict[str, Json]) -> list[dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for name, column in held.items():
        for index, value in table(column).items():
            found.setdefault(index, {})[name] = value
    return list(found.values())
