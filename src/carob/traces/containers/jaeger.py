"""Jaeger's API and UI exports: traces with their processes, or bare spans."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.attributes import plain
from carob.traces.normalize import (
    Status,
    instant,
    kind,
    nanoseconds,
    pad_identity,
    period,
    status,
)
from carob.traces.shape import as_count, as_object, as_text, first_value, objects_in

_SPAN_TAGS = frozenset(
    {
        "span.kind",
        "otel.status_code",
        "otel.status_description",
        "otel.scope.name",
        "otel.scope.version",
        "otel.library.name",
        "otel.library.version",
        "internal.span.format",
        "w3c.tracestate",
    }
)


_TYPED_VALUES = ("vStr", "vInt64", "vBool", "vFloat64", "vBinary")
_EMPTY_VALUES: dict[str, Json] = {
    "string": "",
    "int64": 0,
    "bool": False,
    "float64": 0.0,
    "binary": "",
}


class Jaeger:
    """A trace with `spans` and `processes`, or one span with an `operationName`."""

    name = "jaeger"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return is_jaeger_span(fields) or any(
            map(is_jaeger_span, objects_in(fields.get("spans"))[:8])
        )

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        if is_jaeger_span(fields):
            yield _span(fields, {})
            return
        processes = as_object(fields.get("processes"))
        for span in objects_in(fields.get("spans")):
            yield _span(span, processes)


def is_jaeger_span(item: dict[str, Json]) -> bool:
    """Whether this is a span of Jaeger."""
    return "operationName" in item and first_value(item, "spanID", "spanId") is not None


def _span(item: dict[str, Json], processes: dict[str, Json]) -> Span:
    tags = _tags(first_value(item, "tags", "tag"))
    start, end = _times(item)
    message = as_text(tags.get("otel.status_description"))
    process = (
        first_value(item, "process") or processes.get(as_text(item.get("processID")) or "") or item
    )
    return Span(
        trace_id=pad_identity(first_value(item, "traceID", "traceId")),
        span_id=pad_identity(first_value(item, "spanID", "spanId")),
        parent_id=_parent(item) or None,
        name=as_text(item.get("operationName")) or "",
        kind=kind(tags.get("span.kind")),
        start=start,
        end=end,
        attributes=drop_span_tags(tags),
        events=tuple(_event(log) for log in objects_in(item.get("logs"))),
        status=status_of(tags),
        status_message=message or None,
        scope=as_text(first_value(tags, "otel.scope.name", "otel.library.name")) or "",
        scope_version=as_text(first_value(tags, "otel.scope.version", "otel.library.version"))
        or "",
        resource=_resource(as_object(process)),
    )


def _times(item: dict[str, Json]) -> tuple[int | None, int | None]:
    """Jaeger counts microseconds; Grafana's table of the same spans counts milliseconds."""
    start, length = _number(item.get("startTime")), _number(item.get("duration"))
    if start is None:
        return _text_times(item)
    if start <= 0:
        return None, None
    # A number between these bounds is a time after 1973 in milliseconds; in microseconds it would
    # be one before 1973.
    unit = 10**6 if 1e11 <= start < 1e14 else 10**3
    start_ns = int(start) * unit + round(start % 1 * unit)
    return start_ns, None if length is None else start_ns + round(max(length, 0) * unit)


def _text_times(item: dict[str, Json]) -> tuple[int | None, int | None]:
    """Times as protobuf writes them: `2026-01-05T10:00:00Z` and `1.5s`."""
    start = instant(item.get("startTime"))
    length = as_text(item.get("duration")) or ""
    duration = period(f"PT{length}") if length.endswith("s") else None
    return start, None if start is None or duration is None else start + duration


def _number(value: Json) -> float | None:
    if isinstance(value, str):
        return as_count(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1 << 62 else None


def _microseconds(value: Json) -> int | None:
    number = nanoseconds(value)
    return instant(value) if number is None else number * 1000


def _parent(item: dict[str, Json]) -> str:
    """The parent by its reference; a reference to another trace is only a link."""
    own = pad_identity(first_value(item, "traceID", "traceId"))
    references = [
        reference
        for reference in objects_in(item.get("references"))
        if pad_identity(first_value(reference, "traceID", "traceId")) in {own, ""}
    ]
    references.sort(key=lambda reference: reference.get("refType") != "CHILD_OF")
    if references:
        return pad_identity(first_value(references[0], "spanID", "spanId"))
    return pad_identity(first_value(item, "parentSpanID", "parentSpanId"))


def _tags(value: Json) -> dict[str, Json]:
    if isinstance(value, dict):  # Jaeger in Elasticsearch, tags as fields
        return {key.replace("@", "."): tag for key, tag in value.items()}
    return {key: _tag_value(tag) for tag in objects_in(value) if (key := as_text(tag.get("key")))}


def _tag_value(tag: dict[str, Json]) -> Json:
    """The value of a tag; numbers and booleans that were written as text are converted."""
    value, declared = tag.get("value"), as_text(tag.get("type")) or ""
    if "value" not in tag and "type" not in tag:  # protobuf's JSON omits empty values
        declared = as_text(tag.get("vType")) or "string"
        value = first_value(tag, *_TYPED_VALUES)
        value = _EMPTY_VALUES.get(declared.lower()) if value is None else value
    if not isinstance(value, str):
        return plain(value)
    if declared.lower() == "int64":
        number = as_count(value)
        return value if number is None else number
    if declared.lower() == "bool":
        return value.lower() == "true"
    return _float(value) if declared.lower() == "float64" else value


def _float(value: str) -> Json:
    try:
        return float(value)
    except ValueError:
        return value


def status_of(tags: dict[str, Json]) -> Status:
    """The status that tags carry: OpenTelemetry's own, else OpenTracing's `error`."""
    own = status(tags.get("otel.status_code"))
    if own != "unset":
        return own
    return "error" if tags.get("error") in (True, "true", "True") else "unset"


def drop_span_tags(tags: dict[str, Json]) -> dict[str, Json]:
    """The tags that were attributes, without those that carry fields of the span."""
    return {key: value for key, value in tags.items() if key not in _SPAN_TAGS}


def _event(log: dict[str, Json]) -> SpanEvent:
    fields = _tags(log.get("fields"))
    name = as_text(first_value(fields, "event", "message", "name")) or ""
    rest = {key: value for key, value in fields.items() if key != "event"}
    return SpanEvent(name=name, time=_microseconds(log.get("timestamp")), attributes=rest)


def _resource(process: dict[str, Json]) -> dict[str, Json]:
    service = as_text(process.get("serviceName"))
    resource: dict[str, Json] = {"service.name": service} if service else {}
    return resource | _tags(first_value(process, "serviceTags") or _process_tags(process))


def _process_tags(process: dict[str, Json]) -> Json:
    return None if "operationName" in process else first_value(process, "tags", "tag")
