"""Zipkin: all attributes are strings, and events are annotations."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.jaeger import drop_span_tags, status_of
from carob.traces.normalize import Status, kind, nanoseconds, pad_identity
from carob.traces.shape import (
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_V1 = "binaryAnnotations"


class Zipkin:
    """A span with `traceId` and `id`, whose attributes are `tags`."""

    name = "zipkin"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if "traceId" not in fields or "id" not in fields or "spanId" in fields:
            return False
        return "localEndpoint" in fields or isinstance(fields.get("tags"), dict) or _V1 in fields

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        tags = as_object(fields.get("tags")) or _v1_tags(fields)
        start = _microseconds(fields.get("timestamp"))
        length = as_count(fields.get("duration"))
        code, message = _status(tags)
        yield Span(
            trace_id=pad_identity(fields.get("traceId")),
            span_id=pad_identity(fields.get("id")),
            parent_id=pad_identity(fields.get("parentId")) or None,
            name=as_text(fields.get("name")) or "",
            kind=kind(fields.get("kind")),
            start=start,
            end=None if start is None or length is None else start + max(length, 0) * 1000,
            attributes={key: v for key, v in drop_span_tags(tags).items() if key != "error"},
            events=tuple(map(_event, objects_in(fields.get("annotations")))),
            status=code,
            status_message=message,
            scope=as_text(first_value(tags, "otel.scope.name", "otel.library.name")) or "",
            scope_version=as_text(first_value(tags, "otel.scope.version", "otel.library.version"))
            or "",
            resource=_resource(as_object(fields.get("localEndpoint"))),
        )


def _v1_tags(fields: dict[str, Json]) -> dict[str, Json]:
    """The tags of Zipkin v1, which it calls binary annotations."""
    annotations = objects_in(fields.get(_V1))
    return {key: item.get("value") for item in annotations if (key := as_text(item.get("key")))}


def _microseconds(value: Json) -> int | None:
    number = nanoseconds(value)
    return None if number is None else number * 1000


def _status(tags: dict[str, Json]) -> tuple[Status, str | None]:
    """Zipkin's `error` tag is the message itself."""
    error = as_text(tags.get("error"))
    message = as_text(tags.get("otel.status_description")) or error
    message = None if message in {None, "", "true", "false"} else message
    if error is not None and error != "false":
        return "error", message
    return status_of(tags), message


def _event(annotation: dict[str, Json]) -> SpanEvent:
    name, fields = _annotation(as_text(annotation.get("value")) or "")
    return SpanEvent(name=name, time=_microseconds(annotation.get("timestamp")), attributes=fields)


def _annotation(value: str) -> tuple[str, dict[str, Json]]:
    """The collector writes `name|{json}|dropped`, SDKs `"name": {json}` or `{"name": {json}}`."""
    whole = decode_structure(value)
    if isinstance(whole, dict) and len(whole) == 1:
        name, fields = next(iter(whole.items()))
        return name, as_object(decode_structure(fields))
    start = value.find("{")
    name, mark = value[: max(start, 0)].rstrip(), value[: max(start, 0)].rstrip()[-1:]
    fields = decode_structure(value[start : value.rfind("}") + 1]) if mark in (":", "|") else None
    return (name[:-1].strip(' "'), fields) if isinstance(fields, dict) else (value, {})


def _resource(endpoint: dict[str, Json]) -> dict[str, Json]:
    service = as_text(endpoint.get("serviceName"))
    return {"service.name": service} if service else {}
