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
from carob.traces.shape import as_object, as_text, decode_structure, first_value


class _StoreColumns(NamedTuple):
    trace: str
    span: tuple[str, ...]
    parent: str
    start: tuple[str, ...]
    length: str
    unit: int
    """Nanoseconds per unit of `length`."""
    name: tuple[str, ...] = ("name",)
    attributes: tuple[str, ...] = ()
    """The columns that hold attributes; if empty, every column is an attribute."""
    message: tuple[str, ...] = ()
    """The columns with the text of a log record, whose parent is its span."""

    def owns(self, row: dict[str, Json]) -> bool:
        if self.trace not in row or "attributes" in row or first_value(row, *self.start) is None:
            return False
        if self.attributes and first_value(row, *self.attributes) is None:
            return False
        return (
            first_value(row, *self.span) is not None or first_value(row, *self.message) is not None
        )


_MS = 10**6
_STORES = (
    _StoreColumns(  # Honeycomb
        "trace.trace_id",
        ("trace.span_id",),
        "trace.parent_id",
        ("Timestamp", "timestamp", "time"),
        "duration_ms",
        _MS,
    ),
    _StoreColumns(
        "trace.id", ("guid", "id"), "parent.id", ("timestamp",), "duration.ms", _MS
    ),  # New Relic
    _StoreColumns(  # Application Insights
        "operation_Id",
        ("id",),
        "operation_ParentId",
        ("timestamp",),
        "duration",
        _MS,
        attributes=("customDimensions",),
        message=("message",),
    ),
    _StoreColumns(  # the same in a workspace
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
    _StoreColumns(  # Datadog
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
        return _store(as_object(item)) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        row = as_object(item)
        store = _store(row)
        if store is not None:
            is_span = first_value(row, *store.span) is not None
            yield _span(row, store) if is_span else _log(row, store)


def _store(row: dict[str, Json]) -> _StoreColumns | None:
    return next((store for store in _STORES if store.owns(row)), None)


def _span(row: dict[str, Json], store: _StoreColumns) -> Span:
    start, length = instant(first_value(row, *store.start)), row.get(store.length)
    span: dict[str, Json] = {
        "trace_id": row[store.trace],
        "span_id": first_value(row, *store.span),
        "parent_id": row.get(store.parent),
        "name": first_value(row, *store.name),
        "start_time_unix_nano": start,
        "attributes": {**_attributes(row, store)},
        "status": "ERROR" if _is_failed(row) else None,
    }
    if start is not None and isinstance(length, int | float) and 0 <= length < 1 << 53:
        span["end_time_unix_nano"] = start + round(length * store.unit)
    return span_of(span)


def _attributes(row: dict[str, Json], store: _StoreColumns) -> dict[str, Json]:
    if not store.attributes:
        return row
    merged: dict[str, Json] = {}
    for column in store.attributes:
        merged |= attributes(decode_structure(row.get(column)))
    return merged


def _is_failed(row: dict[str, Json]) -> bool:
    return any(
        str(value).lower() == str(failed)
        for failed, keys in _FAILED
        for value in map(row.get, keys)
    )


def _log(row: dict[str, Json], store: _StoreColumns) -> LogRecord:
    log_attributes = _attributes(row, store)
    event = SpanEvent(
        name=event_name(None, log_attributes),
        time=instant(first_value(row, *store.start)),
        attributes=log_attributes,
        body=decode_structure(as_text(first_value(row, *store.message))),
    )
    return LogRecord(identity(row[store.trace]), identity(row.get(store.parent)), event)
