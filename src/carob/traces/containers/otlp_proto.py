"""OTLP protobuf: one message, or the collector's file of messages with their length before each.

Trace and log requests look alike on the wire. Read as the wrong one, the ids come out empty.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from carob.errors import FormatError, InputError
from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.container import LogRecord
from carob.traces.containers.otlp import event_name
from carob.traces.normalize import kind, status

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData


def read(raw: bytes, *, source: str) -> Iterator[Span | LogRecord]:
    """The spans and log records of a file."""
    for message in _messages(raw):
        traces = _traces(message, source)
        if traces is not None:
            yield from _spans(traces)
            continue
        logs = _logs(message, source)
        if logs is None:
            raise FormatError(
                "neither text nor OTLP protobuf", where=source, hint="expected an export request"
            )
        yield from _records(logs)


def _messages(raw: bytes) -> list[bytes]:
    """The messages with a 4-byte length before each, or the one message that the file is."""
    found: list[bytes] = []
    position = 0
    while position + 4 <= len(raw):
        size = int.from_bytes(raw[position : position + 4], "big")
        if size == 0 or position + 4 + size > len(raw):
            break
        found.append(raw[position + 4 : position + 4 + size])
        position += 4 + size
    return found if position == len(raw) else [raw]


def _traces(raw: bytes, source: str) -> TracesData | None:
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError as error:
        raise _missing(source) from error
    data = TracesData()
    try:
        data.ParseFromString(raw)
    except (DecodeError, RecursionError):
        return None
    spans = [span for group in data.resource_spans for s in group.scope_spans for span in s.spans]
    return data if spans and all(span.trace_id for span in spans) else None


def _logs(raw: bytes, source: str) -> LogsData | None:
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    except ImportError as error:
        raise _missing(source) from error
    data = LogsData()
    try:
        data.ParseFromString(raw)
    except (DecodeError, RecursionError):
        return None
    found = [log for g in data.resource_logs for s in g.scope_logs for log in s.log_records]
    return data if any(log.time_unix_nano or log.observed_time_unix_nano for log in found) else None


def _missing(source: str) -> InputError:
    return InputError(
        "reading OTLP protobuf needs opentelemetry-proto",
        where=source,
        hint="pip install 'carob[otlp]'",
    )


def _spans(data: TracesData) -> Iterator[Span]:
    for group in data.resource_spans:
        resource = _flat(group.resource.attributes)
        for scoped in group.scope_spans:
            for span in scoped.spans:
                yield _span(span, scoped.scope.name, scoped.scope.version, resource)


def _span(found: SpanMessage, scope: str, version: str, resource: dict[str, Json]) -> Span:
    return Span(
        trace_id=_id(found.trace_id),
        span_id=_id(found.span_id),
        parent_id=_id(found.parent_span_id) or None,
        name=found.name,
        kind=kind(int(found.kind)),
        start=_time(found.start_time_unix_nano),
        end=_time(found.end_time_unix_nano),
        attributes=_flat(found.attributes),
        events=tuple(
            SpanEvent(name=e.name, time=_time(e.time_unix_nano), attributes=_flat(e.attributes))
            for e in found.events
        ),
        status=status(int(found.status.code)),
        status_message=found.status.message or None,
        scope=scope,
        scope_version=version,
        resource=resource,
    )


def _records(data: LogsData) -> Iterator[LogRecord]:
    for group in data.resource_logs:
        for scoped in group.scope_logs:
            yield from map(_record, scoped.log_records)


def _record(found: LogMessage) -> LogRecord:
    held = _flat(found.attributes)
    event = SpanEvent(
        name=event_name(found.event_name, held),
        time=_time(found.time_unix_nano) or _time(found.observed_time_unix_nano),
        attributes=held,
        body=_plain(found.body),
    )
    return LogRecord(_id(found.trace_id), _id(found.span_id), event)


def _id(raw: bytes) -> str:
    return raw.hex() if raw.strip(b"\0") else ""


def _time(value: int) -> int | None:
    return value if 0 < value < 1 << 63 else None


def _flat(pairs: Sequence[KeyValue]) -> dict[str, Json]:
    return {pair.key: _plain(pair.value) for pair in pairs}


def _plain(value: AnyValue) -> Json:
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which == "array_value":
        return [_plain(item) for item in value.array_value.values]
    if which == "kvlist_value":
        return _flat(value.kvlist_value.values)
    if which == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    held: Json = getattr(value, which)
    return held
