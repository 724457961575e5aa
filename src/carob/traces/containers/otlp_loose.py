"""OTLP JSON in every other spelling: snake case, old names, Tempo, Grafana, Jaeger v3."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.attributes import resource
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import log_of, span_of
from carob.traces.shape import as_object, as_text, first_value, objects_in

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
        fields = as_object(item)
        return any(
            isinstance(fields.get(key), list) for key in (*_SPANS, *_LOGS, *_METRICS)
        ) or any(isinstance(fields.get(key), list) for key in (*_SPAN_SCOPES, *_LOG_SCOPES))

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        fields = as_object(item)
        yield from _spans(objects_in(first_value(fields, *_SPANS)))
        yield from _logs(objects_in(first_value(fields, *_LOGS)))
        yield from _spans([fields])
        yield from _logs([fields])


def _spans(groups: list[dict[str, Json]]) -> Iterator[Span]:
    for group in groups:
        span_resource = resource(first_value(group, "resource", "Resource"))
        for scoped in objects_in(first_value(group, *_SPAN_SCOPES)):
            name, version = _scope(scoped)
            for item in objects_in(first_value(scoped, "spans", "Spans")):
                yield span_of(item, scope=name, scope_version=version, resource=span_resource)


def _logs(groups: list[dict[str, Json]]) -> Iterator[LogRecord]:
    for group in groups:
        for scoped in objects_in(first_value(group, *_LOG_SCOPES)):
            for item in objects_in(
                first_value(scoped, "logRecords", "log_records", "logs", "LogRecords")
            ):
                yield log_of(item)


def _scope(scoped: dict[str, Json]) -> tuple[str, str]:
    scope = as_object(first_value(scoped, *_SCOPE))
    return as_text(first_value(scope, "name", "Name")) or "", as_text(
        first_value(scope, "version", "Version")
    ) or ""
