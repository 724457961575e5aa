"""OTLP JSON in every other spelling: snake case, old names, Tempo, Grafana, Jaeger v3."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.attributes import resource
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import log_of, span_of
from carob.traces.shape import first, table, tables, text

_SPANS = ("resourceSpans", "resource_spans", "batches", "ResourceSpans")
_LOGS = ("resourceLogs", "resource_logs", "ResourceLogs")
_METRICS = ("resourceMetrics", "resource_metrics")
_SPAN_SCOPES = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
    "ScopeSpans",
)
_LOG_SCOPES = (
    "scopeLogs",
    "scope_logs",
    "instrumentationLibraryLogs",
    "instrumentation_library_logs",
    "ScopeLogs",
)
_SCOPE = ("scope", "instrumentationLibrary", "instrumentation_library", "Scope")


class Otlp:
    """An export request, or one resource's share of it."""

    name = "otlp"

    def claims(self, item: Json) -> bool:
        fields = table(item)
        return any(
            isinstance(fields.get(key), list) for key in (*_SPANS, *_LOGS, *_METRICS)
        ) or any(isinstance(fields.get(key), list) for key in (*_SPAN_SCOPES, *_LOG_SCOPES))

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        fields = table(item)
        yield from _spans(tables(first(fields, *_SPANS)))
        yield from _logs(tables(first(fields, *_LOGS)))
        yield from _spans([fields])
        yield from _logs([fields])


def _spans(groups: list[dict[str, Json]]) -> Iterator[Span]:
    for group in groups:
        span_resource = resource(first(group, "resource", "Resource"))
        for scoped in tables(first(group, *_SPAN_SCOPES)):
            name, version = _scope(scoped)
            for item in tables(first(scoped, "spans", "Spans")):
                yield span_of(item, scope=name, scope_version=version, resource=span_resource)


def _logs(groups: list[dict[str, Json]]) -> Iterator[LogRecord]:
    for group in groups:
        for scoped in tables(first(group, *_LOG_SCOPES)):
            for item in tables(first(scoped, "logRecords", "log_records", "logs", "LogRecords")):
                yield log_of(item)


def _scope(scoped: dict[str, Json]) -> tuple[str, str]:
    scope = table(first(scoped, *_SCOPE))
    return text(first(scope, "name", "Name")) or "", text(first(scope, "version", "Version")) or ""
