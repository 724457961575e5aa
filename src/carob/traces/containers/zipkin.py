"""Zipkin: every attribute a string, events folded into annotations."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.jaeger import status_of, without_plumbing
from carob.traces.normalize import Status, kind, nanoseconds, padded
from carob.traces.shape import count, decode_structure, first, table, tables, text

_V1 = "binaryAnnotations"


class Zipkin:
    """A span with `traceId` and `id`, whose attributes are `tags`."""

    name = "zipkin"

    def claims(self, item: Json) -> bool:
        held = table(item)
        if "traceId" not in held or "id" not in held or "spanId" in held:
            return False
        return "localEndpoint" in held or isinstance(held.get("tags"), dict) or _V1 in held

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        held = table(item)
        tags = table(held.get("tags")) or _binary(held)
        start = _microseconds(held.get("timestamp"))
        length = count(held.get("duration"))
        code, message = _status(tags)
        yield Span(
            trace_id=padded(held.get("traceId")),
            span_id=padded(held.get("id")),
            parent_id=padded(held.get("parentId")) or None,
            name=text(held.get("name")) or "",
            kind=kind(held.get("kind")),
            start=start,
            end=None if start is None or length is None else start + max(length, 0) * 1000,
            attributes={key: v for key, v in without_plumbing(tags).items() if key != "error"},
            events=tuple(map(_event, tables(held.get("annotations")))),
            status=code,
            status_message=message,
            scope=text(first(tags, "otel.scope.name", "otel.library.name")) or "",
            scope_version=text(first(tags, "otel.scope.version", "otel.library.version")) or "",
            resource=_resource(table(held.get("localEndpoint"))),
        )


def _binary(held: dict[str, Json]) -> dict[str, Json]:
    """The tags of v1."""
    found = tables(held.get(_V1))
    return {key: one.get("value") for one in found if (key := text(one.get("key")))}


def _microseconds(value: Json) -> int | None:
    found = nanoseconds(value)
    return None if found is None else found * 1000


def _status(tags: dict[str, Json]) -> tuple[Status, str | None]:
    """Zipkin's `error` tag is the message itself."""
    error = text(tags.get("error"))
    message = text(tags.get("otel.status_description")) or error
    message = None if message in {None, "", "true", "false"} else message
    if error is not None and error != "false":
        return "error", message
    return status_of(tags), message


def _event(annotation: dict[str, Json]) -> SpanEvent:
    name, held = _annotation(text(annotation.get("value")) or "")
    return SpanEvent(name=name, time=_microseconds(annotation.get("timestamp")), attributes=held)


def _annotation(value: str) -> tuple[str, dict[str, Json]]:
    """The collector writes `name|{json}|dropped`, SDKs `"name": {json}` or `{"name": {json}}`."""
    whole = decode_structure(value)
    if isinstance(whole, dict) and len(whole) == 1:
        name, held = next(iter(whole.items()))
        return name, table(decode_structure(held))
    start = value.find("{")
    name, mark = value[: max(start, 0)].rstrip(), value[: max(start, 0)].rstrip()[-1:]
    held = decode_structure(value[start : value.rfind("}") + 1]) if mark in (":", "|") else None
    return (name[:-1].strip(' "'), held) if isinstance(held, dict) else (value, {})


def _resource(endpoint: dict[str, Json]) -> dict[str, Json]:
    service = text(endpoint.get("serviceName"))
    return {"service.name": service} if service else {}
