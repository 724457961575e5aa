"""Elastic APM: the events that its agents send, and the documents that its server stores.

An agent sends one event per line, such as `{"span": …}`, with the attributes of OpenTelemetry under
`otel`. The server stores each as a document and turns the attributes into labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.attributes import flatten_nested
from carob.traces.containers.container import LogRecord
from carob.traces.containers.elastic_labels import read_labels
from carob.traces.normalize import Status, identity, instant, kind
from carob.traces.shape import as_array, as_object, as_text, first_value, objects_in

_SPANS = ("transaction", "span")
_BESIDE = frozenset(("metadata", "metricset", "error", "log"))
_OUTCOMES: dict[Json, Status] = {"failure": "error"}
"""Successes stay unset: a server also calls a request successful in which the agent failed."""
_US, _MS = 10**3, 10**6


class ElasticApm:
    """Events of the intake API, or documents with the ids of a trace and a transaction."""

    name = "elastic-apm"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if len(fields) == 1:
            ((kind_of_event, event),) = fields.items()
            return _is_event(kind_of_event, as_object(event))
        return _is_document(_document(fields))

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        fields = as_object(item)
        if len(fields) > 1:
            yield from _read_document(_document(fields))
            return
        ((name, event),) = fields.items()
        if name in _SPANS:
            yield _span_of_event(as_object(event))
        elif name == "error":
            yield from _read_error(as_object(event))


def _is_event(name: str, event: dict[str, Json]) -> bool:
    if name in _SPANS:
        return {"id", "trace_id", "duration"} <= event.keys()
    if name == "error":
        return "id" in event and not event.keys().isdisjoint(("exception", "log"))
    if name == "metricset":
        return "samples" in event
    agent = as_object(as_object(event.get("service")).get("agent"))
    return name == "metadata" and "name" in agent


def _span_of_event(event: dict[str, Json]) -> Span:
    otel = as_object(event.get("otel"))
    labels = read_labels(as_object(event.get("context")).get("tags"))
    start, length = instant(event.get("timestamp")), event.get("duration")
    return Span(
        trace_id=identity(event.get("trace_id")),
        span_id=identity(event.get("id")),
        parent_id=identity(event.get("parent_id")) or None,
        name=as_text(event.get("name")) or "",
        kind=kind(otel.get("span_kind")),
        start=start,
        end=_add(start, length, _MS),
        attributes=labels | as_object(otel.get("attributes")),
        status=_OUTCOMES.get(_text_or_none(event.get("outcome")), "unset"),
    )


def _read_error(event: dict[str, Json]) -> Iterator[LogRecord]:
    """The exception of a span, as OpenTelemetry records it."""
    thrown = as_object(event.get("exception")) or as_object(event.get("log"))
    if trace_id := identity(event.get("trace_id")):
        yield _exception(trace_id, event.get("parent_id"), thrown, instant(event.get("timestamp")))


def _document(fields: dict[str, Json]) -> dict[str, Json]:
    """A document by dotted names, also from a search for `fields`, which lists every value."""
    inner = as_object(fields.get("fields"))
    if "trace.id" in inner:
        listed = {key: as_array(value) for key, value in inner.items()}
        return {key: value[0] if len(value) == 1 else value for key, value in listed.items()}
    if not isinstance(fields.get("trace"), dict):
        return fields if "trace.id" in fields else {}
    return flatten_nested({key: value for key, value in fields.items() if "labels" not in key}) | {
        key: fields[key] for key in ("labels", "numeric_labels") if key in fields
    }


def _is_document(document: dict[str, Json]) -> bool:
    if "trace.id" not in document:
        return False
    if "processor.event" in document:
        return True
    has_id = first_value(document, "span.id", "transaction.id") is not None
    return has_id and "timestamp.us" in document


def _read_document(document: dict[str, Json]) -> Iterator[Span | LogRecord]:
    event = document.get("processor.event")
    own = next((name for name in reversed(_SPANS) if f"{name}.duration.us" in document), None)
    trace_id = identity(document["trace.id"])
    start = instant(first_value(document, "timestamp.us", "@timestamp"))
    attributes = read_labels(*_labels(document))
    if event in _SPANS or (event is None and own is not None):
        own = own or str(event)
        yield Span(
            trace_id=trace_id,
            span_id=identity(document.get(f"{own}.id")),
            parent_id=identity(document.get("parent.id")) or None,
            name=as_text(document.get(f"{own}.name")) or "",
            kind=kind(document.get("span.kind")),
            start=start,
            end=_add(start, document.get(f"{own}.duration.us"), _US),
            attributes=attributes,
            status=_OUTCOMES.get(_text_or_none(document.get("event.outcome")), "unset"),
            # The server has no place for the scope of a span and stores it as a framework.
            scope=as_text(document.get("service.framework.name")) or "",
            resource={"service.name": document.get("service.name")},
        )
    elif event == "error":
        parent = first_value(document, "parent.id", "transaction.id")
        yield _exception(trace_id, parent, _thrown(document), start)
    elif event == "log":
        parent = first_value(document, "span.id", "transaction.id")
        name = as_text(attributes.get("event.name")) or as_text(document.get("message")) or ""
        yield LogRecord(trace_id, identity(parent), SpanEvent(name, start, attributes))


def _labels(document: dict[str, Json]) -> tuple[Json, Json]:
    """The labels of text and of numbers, which may be spread over dotted names."""
    if "labels" in document or "numeric_labels" in document:
        return document.get("labels"), document.get("numeric_labels")
    texts, numbers = (
        {
            key.removeprefix(prefix): value
            for key, value in document.items()
            if key.startswith(prefix)
        }
        for prefix in ("labels.", "numeric_labels.")
    )
    return texts, numbers


def _thrown(document: dict[str, Json]) -> dict[str, Json]:
    # `flatten_nested` also spreads lists over dotted names.
    listed = objects_in(document.get("error.exception"))
    first = listed[0] if listed else {}
    found = {
        key: first_value(document, f"error.exception.0.{key}", f"error.exception.{key}")
        for key in ("message", "type")
    }
    return found | first


def _exception(trace_id: str, parent: Json, thrown: dict[str, Json], time: int | None) -> LogRecord:
    attributes: dict[str, Json] = {
        f"exception.{key}": value
        for key in ("message", "type")
        if (value := as_text(thrown.get(key)))
    }
    return LogRecord(trace_id, identity(parent), SpanEvent("exception", time, attributes))


def _add(start: int | None, length: Json, unit: int) -> int | None:
    if start is None or isinstance(length, bool) or not isinstance(length, int | float):
        return None
    return start + round(length * unit) if 0 <= length < 1 << 53 else None


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None
