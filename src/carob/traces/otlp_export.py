"""Spans as an OTLP/JSON export request, whatever container they were read from."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import msgspec

from carob.schema import Json, Span, SpanEvent

_KINDS = {"internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
_STATUS = {"unset": 0, "ok": 1, "error": 2}
_sorted_json = msgspec.json.Encoder(order="deterministic").encode


def export_spans(spans: Iterable[Span]) -> dict[str, Json]:
    """Return the spans as an `ExportTraceServiceRequest`, grouped by resource and scope."""
    resources: dict[bytes, dict[str, Json]] = {}
    scopes: dict[tuple[bytes, str, str], list[Json]] = {}
    for span in spans:
        resource = _sorted_json(span.resource)
        if resource not in resources:
            attributes: dict[str, Json] = {"attributes": _attributes(span.resource)}
            resources[resource] = {"resource": attributes, "scopeSpans": []}
        key = (resource, span.scope, span.scope_version)
        if key not in scopes:
            scopes[key] = []
            group = resources[resource]["scopeSpans"]
            if isinstance(group, list):
                group.append({"scope": _scope(span), "spans": scopes[key]})
        scopes[key].append(_span(span))
    return {"resourceSpans": list(resources.values())}


def _scope(span: Span) -> Json:
    return {
        "name": span.scope,
        **({"version": span.scope_version} if span.scope_version else {}),
    }


def _span(span: Span) -> Json:
    fields: dict[str, Json] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": _KINDS.get(span.kind, 0),
        "attributes": _attributes(span.attributes),
    }
    if span.parent_id:
        fields["parentSpanId"] = span.parent_id
    if span.start is not None:
        fields["startTimeUnixNano"] = str(span.start)
    if span.end is not None:
        fields["endTimeUnixNano"] = str(span.end)
    if span.events:
        fields["events"] = [_event(event) for event in span.events]
    if span.status != "unset" or span.status_message:
        message = {"message": span.status_message} if span.status_message else {}
        fields["status"] = {"code": _STATUS[span.status], **message}
    return fields


def _event(event: SpanEvent) -> Json:
    attributes = event.attributes
    if event.body is not None:  # of a log record that belongs to the span
        attributes = {**attributes, "body": event.body}
    fields: dict[str, Json] = {"name": event.name, "attributes": _attributes(attributes)}
    if event.time is not None:
        fields["timeUnixNano"] = str(event.time)
    return fields


def _attributes(values: dict[str, Json]) -> list[Json]:
    return [{"key": key, "value": _any_value(value)} for key, value in values.items()]


def _any_value(value: Json) -> Json:
    """A value as an `AnyValue`; 64-bit numbers are text, as the JSON mapping of protobuf says."""
    match value:
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case int() if -(2**63) <= value < 2**63:
            return {"intValue": str(value)}
        case int() | float():
            return {"doubleValue": value if isfinite(value) else str(value)}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [_any_value(item) for item in value]}}
        case _:
            return {"kvlistValue": {"values": _attributes(value)}}
