"""Spans as OpenTelemetry's Python SDK prints them: `ConsoleSpanExporter`, `to_json`.

Go's console exporter, JavaScript's span objects and MLflow's spans have the same shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.flat import span_of
from carob.traces.shape import as_object, first_value, fold_keys


class PythonConsole:
    """A span with its ids in a `context`."""

    name = "python-console"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if "hrTime" in fields:  # a log record
            return False
        return has_context(fields) and "span_kind" not in fields and "spanKind" not in fields

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        yield span_of(as_object(item))


def has_context(item: dict[str, Json]) -> bool:
    """Whether the item has its ids in a `context`."""
    context = first_value(item, "context", "SpanContext", "_spanContext", "spanContext")
    return {"traceid", "spanid"} <= fold_keys(as_object(context)).keys()
