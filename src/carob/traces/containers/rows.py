"""Rows of stores that have their own names for the columns of a span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.attributes import attributes
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import span_of
from carob.traces.containers.otlp import event_name
from carob.traces.normalize import identity, instant
from carob.traces.shape import decode_structure, first, table, text


class _Store(NamedTuple):
    trace: str
    span: tuple[str, ...]
    parent: str
    start: tuple[str, ...]
    length: str
    unit: int
    """Nanoseconds in one of what the length counts."""
    name: tuple[str, ...] = ("name",)
    attributes: tuple[str, ...] = ()
    """Where the attributes are; without any, every other column is one."""
    message: tuple[str, ...] = ()
    """The text of a log record, whose parent is the span that it belongs to."""

    def owns(self, row: dict[str, Json]) -> bool:
        if self.trace not in row or "attributes" in row or first(row, *self.start) is None:
            return False
        if self.attributes and first(row, *self.attributes) is None:
            return False
        return first(row, *self.span) is not None or first(row, *self.message) is not None


_MS = 10**6
_STORES = (
    _Store(  # Honeycomb
        "trace.trace_id",
        ("trace.span_id",),
        "trace.parent_id",
        ("Timestamp", "timestamp", "time"),
        "duration_ms",
        _MS,
    ),
    _Store(
        "trace.id", ("guid", "id"), "parent.id", ("timestamp",), "duration.ms", _MS
    ),  # New Relic
    _Store(  # Application Insights
        "operation_Id",
        ("id",),
        "operation_ParentId",
        ("timestamp",),
        "duration",
        _MS,
        attributes=("customDimensions",),
        message=("message",),
    ),
    _Store(  # the same in a workspace
        "OperationId",
        ("Id",),
        "ParentId",
        ("TimeGenerated",),
        "DurationMs",
        _MS,
        name=("Name",),
        attributes=("Properties",),
        message=("Message",),
    ),
    _Store(  # Datadog
        "trace_id",
        ("span_id",),
        "parent_id",
        ("start",),
        "duration",
        1,
        name=("resource", "name"),
        attributes=("meta", "metrics"),
    ),
)
_FAILED = ((1, ("error",)), ("false", ("success", "Success")), ("true", ("error",)))


class Rows:
    """A row of a store's own table of spans."""

    name = "rows"

    def claims(self, item: Json) -> bool:
        return _store(table(item)) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        row = table(item)
        store = _store(row)
        if store is not None:
            is_span = first(row, *store.span) is not None
            yield _span(row, store) if is_span else _log(row, store)


def _store(row: dict[str, Json]) -> _Store | None:
    return next((store for store in _STORES if store.owns(row)), None)


def _span(row: dict[str, Json], store: _Store) -> Span:
    start, length = instant(first(row, *store.start)), row.get(store.length)
    held: dict[str, Json] = {
        "trace_id": row[store.trace],
        "span_id": first(row, *store.span),
        "parent_id": row.get(store.parent),
        "name": first(row, *store.name),
        "start_time_unix_nano": start,
        "attributes": {**_attributes(row, store)},
        "status": "ERROR" if _is_failed(row) else None,
    }
    if start is not None and isinstance(length, int | float) and 0 <= length < 1 << 53:
        held["end_time_unix_nano"] = start + round(length * store.unit)
    return span_of(held)


def _attributes(row: dict[str, Json], store: _Store) -> dict[str, Json]:
    if not store.attributes:
        return row
    found: dict[str, Json] = {}
    for column in store.attributes:
        found |= attributes(decode_structure(row.get(column)))
    return found


def _is_failed(row: dict[str, Json]) -> bool:
    return any(
        str(value).lower() == str(told) for told, keys in _FAILED for value in map(row.get, keys)
    )


def _log(row: dict[str, Json], store: _Store) -> LogRecord:
    held = _attributes(row, store)
    event = SpanEvent(
        name=event_name(None, held),
        time=instant(first(row, *store.start)),
        attributes=held,
        body=decode_structure(text(first(row, *store.message))),
    )
    return LogRecord(identity(row[store.trace]), identity(row.get(store.parent)), event)
