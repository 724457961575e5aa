"""OTLP JSON as the specification spells it, decoded from bytes straight into typed structs.

`decode` reads one JSON value: as `Records` if it is spelled as in the specification, else as plain
JSON, which `otlp_loose` then reads. Required fields and forbidden unknown ones keep another
spelling from passing as an empty value: a span without `startTimeUnixNano` or with a `string_value`
fails here and is read there.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Annotated

import msgspec

from carob.schema import Json, Span, SpanEvent
from carob.schema.base import prepare_type
from carob.traces.containers.container import LogRecord
from carob.traces.normalize import DROPPED, KINDS, STATUSES, kind, status, text_identity

_REQUEST = re.compile(rb'\s*\{\s*"resource(?:Spans|Logs)"\s*:')
_IDS = re.compile(r"[0-9a-f]{16}(?: [0-9a-f]{16})*+")
_NO_ID = "0" * 16
_NEVER = 1 << 63
_Time = Annotated[int, msgspec.Meta(gt=0, le=_NEVER - 1)]


class AnyValue(msgspec.Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """A value of one kind; without any, it is null."""

    string_value: str | None = None
    int_value: int | None = None
    bool_value: bool | None = None
    double_value: float | None = None
    array_value: ArrayValue | None = None
    kvlist_value: KvlistValue | None = None
    bytes_value: str | None = None


class KeyValue(msgspec.Struct, gc=False):
    """One attribute."""

    key: str
    value: AnyValue = msgspec.field(default_factory=AnyValue)


class ArrayValue(msgspec.Struct, gc=False):
    """A list of values."""

    values: list[AnyValue] = []


class KvlistValue(msgspec.Struct, gc=False):
    """An object of values."""

    values: list[KeyValue] = []


class Resource(msgspec.Struct, gc=False):
    """What produced the spans."""

    attributes: list[KeyValue] = []


class Scope(msgspec.Struct, gc=False):
    """The instrumentation that produced the spans."""

    name: str = ""
    version: str = ""


class OtlpEvent(msgspec.Struct, rename="camel", gc=False):
    """A span event."""

    name: str = ""
    time_unix_nano: int = 0
    attributes: list[KeyValue] = []


class OtlpStatus(msgspec.Struct, gc=False):
    """The status of a span."""

    code: int | str = 0
    message: str = ""


class OtlpSpan(msgspec.Struct, rename="camel", gc=False):
    """A span, with the fields that are needed."""

    trace_id: str
    span_id: str
    start_time_unix_nano: _Time
    parent_span_id: str | None = None
    name: str = ""
    kind: int | str = 0
    end_time_unix_nano: _Time | None = None
    attributes: list[KeyValue] = []
    dropped_attributes_count: int = 0
    events: list[OtlpEvent] = []
    status: OtlpStatus | None = None


class OtlpLog(msgspec.Struct, rename="camel", gc=False):
    """A log record, with the fields that are needed."""

    time_unix_nano: int = 0
    observed_time_unix_nano: int = 0
    event_name: str = ""
    body: AnyValue | None = None
    attributes: list[KeyValue] = []
    trace_id: str = ""
    span_id: str = ""


class ScopeSpans(msgspec.Struct, gc=False):
    """The spans of one instrumentation."""

    spans: list[OtlpSpan]
    scope: Scope | None = None


class ScopeLogs(msgspec.Struct, rename="camel", gc=False):
    """The log records of one instrumentation."""

    log_records: list[OtlpLog]
    scope: Scope | None = None


class ResourceSpans(msgspec.Struct, rename="camel", gc=False):
    """The spans of one resource."""

    scope_spans: list[ScopeSpans]
    resource: Resource | None = None


class ResourceLogs(msgspec.Struct, rename="camel", gc=False):
    """The log records of one resource."""

    scope_logs: list[ScopeLogs]
    resource: Resource | None = None


class Request(msgspec.Struct, rename="camel", gc=False):
    """One export request: the value of one line of a collector's file."""

    resource_spans: list[ResourceSpans] = []
    resource_logs: list[ResourceLogs] = []


_request = msgspec.json.Decoder(
    prepare_type(Request), strict=False
)  # 64-bit numbers are strings in OTLP
_json = msgspec.json.Decoder()


class Records(list[Span | LogRecord]):
    """The spans and log records of one request."""

    trace_id: str | None = None
    """The trace that all of them belong to, if there is only one."""


def decode(raw: bytes) -> Records | Json:
    """Decode one JSON value; raises `msgspec.DecodeError` as the plain decoder does."""
    # The request is freed before its records are used: the next one reuses its memory, which is
    # still in the processor's caches.
    if _REQUEST.match(raw):
        try:
            return _to_records(_request.decode(raw))
        except msgspec.ValidationError:
            if b"null" in raw:
                return _decode_nulls(raw)
    return _json.decode(raw)


def _decode_nulls(raw: bytes) -> Records | Json:
    """Decode a request once more, with fields that are null left out. Hardly any client writes
    them, so requests are searched for nulls only if they cannot be decoded with them."""
    value = _json.decode(raw)
    try:
        request = msgspec.convert(_without_nulls(value), prepare_type(Request), strict=False)
    except (msgspec.ValidationError, RecursionError):
        return value
    return _to_records(request)


def _without_nulls(value: Json) -> Json:
    """Leave out the fields that are null: in the JSON mapping of protobuf they are absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _to_records(request: Request) -> Records:
    records = Records()
    traces: set[str] = set()
    for group in request.resource_spans:
        resource = flat(group.resource.attributes) if group.resource else {}
        for scoped in group.scope_spans:
            traces |= _add_spans(records, scoped, resource)
    for group in request.resource_logs:
        for scoped in group.scope_logs:
            logs = [_log(log) for log in scoped.log_records]
            traces |= {log.trace_id for log in logs}
            records += logs
    if len(traces) == 1:
        records.trace_id = traces.pop()
    return records


def _add_spans(records: Records, scoped: ScopeSpans, resource: dict[str, Json]) -> set[str]:
    """Add the spans of one instrumentation to the records; returns their trace ids."""
    scope = scoped.scope or Scope()
    name, version, spans = scope.name, scope.version, scoped.spans
    # Most parents are spans of the same value, so the set that was checked for the ids also saves
    # checking the parents one by one.
    ids = [span.span_id for span in spans]
    canonical = {*ids} if _are_canonical(ids) else frozenset[str]()
    traces: set[str] = set()
    raw, trace = None, ""
    for span in spans:
        if span.trace_id != raw:
            raw = span.trace_id
            trace = text_identity(raw)
            traces.add(trace)
        key, parent, state = span.span_id, span.parent_span_id, span.status
        if key not in canonical:
            key = text_identity(key)
        if parent not in canonical:
            parent = (text_identity(parent) or None) if parent else None
        events, attributes = span.events, flat(span.attributes)
        if span.dropped_attributes_count:
            attributes[DROPPED] = span.dropped_attributes_count
        # By position, in the order of the fields: keyword arguments take a third of the time.
        records.append(
            Span(
                trace,
                key,
                parent,
                span.name,
                KINDS.get(span.kind) or kind(span.kind),
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                attributes,
                tuple(map(_event, events)) if events else (),
                (STATUSES.get(state.code) or status(state.code)) if state else "unset",
                (state.message or None) if state else None,
                name,
                version,
                resource,
            )
        )
    return traces


def _are_canonical(ids: list[str]) -> bool:
    """Whether all are 16 lower-case hex digits and none is zero: one match for all ids of a value
    costs a fraction of one match each."""
    joined = " ".join(ids)
    return _IDS.fullmatch(joined) is not None and _NO_ID not in joined


def _time(value: int) -> int | None:
    return value if 0 < value < _NEVER else None


def _event(event: OtlpEvent) -> SpanEvent:
    return SpanEvent(event.name, _time(event.time_unix_nano), flat(event.attributes))


def _log(log: OtlpLog) -> LogRecord:
    attributes = flat(log.attributes)
    event = SpanEvent(
        log.event_name or event_name("", attributes),
        _time(log.time_unix_nano) or _time(log.observed_time_unix_nano),
        attributes,
        _plain(log.body) if log.body else None,
    )
    return LogRecord(text_identity(log.trace_id), text_identity(log.span_id), event)


def event_name(name: Json, attributes: dict[str, Json]) -> str:
    """The name of a log record: its own field, else one of two attributes."""
    names = (name, attributes.get("event.name"), attributes.get("otel.event.name"))
    for candidate in names:
        if isinstance(candidate, str) and candidate:
            return candidate
    return ""


def flat(pairs: list[KeyValue]) -> dict[str, Json]:
    """The attributes as a dict of plain values."""
    attributes: dict[str, Json] = {}
    for pair in pairs:
        value = pair.value
        if (plain := value.string_value) is not None or (plain := value.int_value) is not None:
            attributes[pair.key] = plain
        else:
            attributes[pair.key] = _plain(value)
    return attributes


def _plain(value: AnyValue) -> Json:
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return value.int_value
    if value.bool_value is not None:
        return value.bool_value
    if value.bytes_value is not None:
        return value.bytes_value
    if value.double_value is not None:
        return value.double_value if isfinite(value.double_value) else None
    if value.array_value is not None:
        return [_plain(item) for item in value.array_value.values]
    return flat(value.kvlist_value.values) if value.kvlist_value is not None else None
