"""OTLP JSON as the specification spells it, decoded from bytes straight into typed structs.

`decode` reads one JSON value: as `Records` where the spelling is the specification's, plain JSON
where it is not, which `otlp_loose` then reads. Required fields and values of known kinds keep a
twin spelling from passing as an empty one: a span without `startTimeUnixNano` or with a
`string_value` fails here and is read there.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Annotated

import msgspec

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.container import LogRecord
from carob.traces.normalize import KINDS, STATUSES, kind, spelled_identity, status

_OURS = re.compile(rb'\s*\{\s*"resource(?:Spans|Logs)"\s*:')
_IDS = re.compile(r"[0-9a-f]{16}(?: [0-9a-f]{16})*+")
_NO_ID = "0" * 16
_NEVER = 1 << 63
_Time = Annotated[int, msgspec.Meta(gt=0, le=_NEVER - 1)]


class AnyValue(msgspec.Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """One of the kinds of value; none of them is null."""

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


class Event(msgspec.Struct, rename="camel", gc=False):
    """A span event."""

    name: str = ""
    time_unix_nano: int = 0
    attributes: list[KeyValue] = []


class StatusOf(msgspec.Struct, gc=False):
    """The status of a span."""

    code: int | str = 0
    message: str = ""


class OtlpSpan(msgspec.Struct, rename="camel", gc=False):
    """A span, as far as it is needed."""

    trace_id: str
    span_id: str
    start_time_unix_nano: _Time
    parent_span_id: str | None = None
    name: str = ""
    kind: int | str = 0
    end_time_unix_nano: _Time | None = None
    attributes: list[KeyValue] = []
    events: list[Event] = []
    status: StatusOf | None = None


class OtlpLog(msgspec.Struct, rename="camel", gc=False):
    """A log record, as far as it is needed."""

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


_request = msgspec.json.Decoder(Request, strict=False)  # 64-bit numbers are strings in OTLP
_json = msgspec.json.Decoder()


class Records(list[Span | LogRecord]):
    """The spans and log records of one request."""

    trace_id: str | None = None
    """The trace that all of them belong to, if it is one."""


def decode(raw: bytes) -> Records | Json:
    """One JSON value; raises `msgspec.DecodeError` as the plain decoder does.

    The request itself is gone by the time that its records are looked at: the next one finds its
    memory free, and still in the processor's caches.
    """
    if _OURS.match(raw):
        try:
            return _read(_request.decode(raw))
        except msgspec.ValidationError:
            pass
    return _json.decode(raw)


def _read(request: Request) -> Records:
    records = Records()
    traces: set[str] = set()
    for group in request.resource_spans:
        resource = flat(group.resource.attributes) if group.resource else {}
        for scoped in group.scope_spans:
            traces |= _read_spans(records, scoped, resource)
    for group in request.resource_logs:
        for scoped in group.scope_logs:
            logs = [_log(found) for found in scoped.log_records]
            traces |= {log.trace_id for log in logs}
            records += logs
    if len(traces) == 1:
        records.trace_id = traces.pop()
    return records


def _read_spans(records: Records, scoped: ScopeSpans, resource: dict[str, Json]) -> set[str]:
    """Adds the spans of one instrumentation to the records, and tells which traces they are of."""
    scope = scoped.scope or Scope()
    name, version, spans = scope.name, scope.version, scoped.spans
    ids = [found.span_id for found in spans]
    regular = {*ids} if _are_regular(ids) else frozenset[str]()
    traces: set[str] = set()
    raw, trace = None, ""
    for found in spans:
        if found.trace_id != raw:
            raw = found.trace_id
            trace = spelled_identity(raw)
            traces.add(trace)
        key, parent, state = found.span_id, found.parent_span_id, found.status
        if key not in regular:
            key = spelled_identity(key)
        if parent not in regular:
            parent = (spelled_identity(parent) or None) if parent else None
        events = found.events
        # By position, in the order of the fields: names cost a third of the time.
        records.append(
            Span(
                trace,
                key,
                parent,
                found.name,
                KINDS.get(found.kind) or kind(found.kind),
                found.start_time_unix_nano,
                found.end_time_unix_nano,
                flat(found.attributes),
                tuple(map(_event, events)) if events else (),
                (STATUSES.get(state.code) or status(state.code)) if state else "unset",
                (state.message or None) if state else None,
                name,
                version,
                resource,
            )
        )
    return traces


def _are_regular(ids: list[str]) -> bool:
    """Whether all are sixteen hex digits in lower case and none is zero, told of all at once."""
    joined = " ".join(ids)
    return _IDS.fullmatch(joined) is not None and _NO_ID not in joined


def _time(found: int) -> int | None:
    return found if 0 < found < _NEVER else None


def _event(found: Event) -> SpanEvent:
    return SpanEvent(found.name, _time(found.time_unix_nano), flat(found.attributes))


def _log(found: OtlpLog) -> LogRecord:
    held = flat(found.attributes)
    event = SpanEvent(
        found.event_name or event_name("", held),
        _time(found.time_unix_nano) or _time(found.observed_time_unix_nano),
        held,
        _plain(found.body) if found.body else None,
    )
    return LogRecord(spelled_identity(found.trace_id), spelled_identity(found.span_id), event)


def event_name(name: Json, held: dict[str, Json]) -> str:
    """The name of a log record: its own field, else one of two attributes."""
    for found in (name, held.get("event.name"), held.get("otel.event.name")):
        if isinstance(found, str) and found:
            return found
    return ""


def flat(pairs: list[KeyValue]) -> dict[str, Json]:
    """The attributes as a dict of plain values."""
    held: dict[str, Json] = {}
    for pair in pairs:
        value = pair.value
        if (plain := value.string_value) is not None or (plain := value.int_value) is not None:
            held[pair.key] = plain
        else:
            held[pair.key] = _plain(value)
    return held


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
