"""OTLP protobuf: one message, or a file of the collector with the length before each message.

Trace and log requests look alike on the wire: parsed as the wrong one, their ids are empty.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from carob.errors import FormatError, InputError, install_hint
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


def read_message(raw: bytes, signal: str, *, source: str) -> Iterator[Span | LogRecord]:
    """The spans or log records of one export request, which may be empty."""
    data = _parse(raw, signal, source)
    yield from _spans(data) if signal == "traces" else _records(data)


def outline_message(
    raw: bytes, signal: str, attributes: Collection[str], *, source: str
) -> Iterator[Span | LogRecord]:
    """The records as `read_message` gives them, but of spans only ids, times and some attributes:
    an index needs no more, and the rest takes most of the time."""
    if signal != "traces":
        yield from read_message(raw, signal, source=source)
        return
    for group in _parse(raw, signal, source).resource_spans:
        resource = _flat(group.resource.attributes)
        for scoped in group.scope_spans:
            for span in scoped.spans:
                yield Span(
                    trace_id=_id(span.trace_id),
                    span_id=_id(span.span_id),
                    parent_id=_id(span.parent_span_id) or None,
                    start=_time(span.start_time_unix_nano),
                    end=_time(span.end_time_unix_nano),
                    attributes={
                        pair.key: _plain(pair.value)
                        for pair in span.attributes
                        if pair.key in attributes
                    },
                    resource=resource,
                )


def count_records(raw: bytes, signal: str, *, source: str) -> tuple[int, int]:
    """The number of records of an export request, and of spans among them with invalid ids."""
    data = _parse(raw, signal, source)
    if signal != "traces":
        scopes = [scoped for group in data.resource_logs for scoped in group.scope_logs]
        return sum(len(scoped.log_records) for scoped in scopes), 0
    total = invalid = 0
    for group in data.resource_spans:
        for scoped in group.scope_spans:
            total += len(scoped.spans)
            invalid += sum(not _has_valid_ids(span) for span in scoped.spans)
    return total, invalid


def _has_valid_ids(span: SpanMessage) -> bool:
    trace, id = span.trace_id, span.span_id
    return len(trace) == 16 and len(id) == 8 and any(trace) and any(id)


def _parse(raw: bytes, signal: str, source: str) -> Any:
    """An export request, which has the same fields as the data in a file."""
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError as error:
        raise _missing_library(source) from error
    data = TracesData() if signal == "traces" else LogsData()
    try:
        data.ParseFromString(raw)
    except (DecodeError, RecursionError) as error:
        raise FormatError(f"not an OTLP request: {error}", where=source) from error
    return data


def count_data_points(raw: bytes, *, source: str) -> int:
    """The number of data points of a metrics request."""
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
    except ImportError as error:
        raise _missing_library(source) from error
    data = MetricsData()
    try:
        data.ParseFromString(raw)
    except (DecodeError, RecursionError) as error:
        raise FormatError(f"not a metrics request: {error}", where=source) from error
    metrics = [m for group in data.resource_metrics for s in group.scope_metrics for m in s.metrics]
    kinds = [(metric, metric.WhichOneof("data")) for metric in metrics]
    return sum(len(getattr(metric, kind).data_points) for metric, kind in kinds if kind)


def _messages(raw: bytes) -> list[bytes]:
    """The messages with a 4-byte length before each, or the one message that the file is."""
    messages: list[bytes] = []
    position = 0
    while position + 4 <= len(raw):
        size = int.from_bytes(raw[position : position + 4], "big")
        if size == 0 or position + 4 + size > len(raw):
            break
        messages.append(raw[position + 4 : position + 4 + size])
        position += 4 + size
    return messages if position == len(raw) else [raw]


def _traces(raw: bytes, source: str) -> TracesData | None:
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError as error:
        raise _missing_library(source) from error
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
        raise _missing_library(source) from error
    data = LogsData()
    try:
        data.ParseFromString(raw)
    except (DecodeError, RecursionError):
        return None
    logs = [log for g in data.resource_logs for s in g.scope_logs for log in s.log_records]
    return data if any(log.time_unix_nano or log.observed_time_unix_nano for log in logs) else None


def _missing_library(source: str) -> InputError:
    return InputError(
        "reading OTLP protobuf needs opentelemetry-proto",
        where=source,
        hint=install_hint("otlp"),
    )


def _spans(data: TracesData) -> Iterator[Span]:
    for group in data.resource_spans:
        resource = _flat(group.resource.attributes)
        for scoped in group.scope_spans:
            for span in scoped.spans:
                yield _span(span, scoped.scope.name, scoped.scope.version, resource)


def _span(message: SpanMessage, scope: str, version: str, resource: dict[str, Json]) -> Span:
    return Span(
        trace_id=_id(message.trace_id),
        span_id=_id(message.span_id),
        parent_id=_id(message.parent_span_id) or None,
        name=message.name,
        kind=kind(int(message.kind)),
        start=_time(message.start_time_unix_nano),
        end=_time(message.end_time_unix_nano),
        attributes=_flat(message.attributes),
        events=tuple(
            SpanEvent(name=e.name, time=_time(e.time_unix_nano), attributes=_flat(e.attributes))
            for e in message.events
        ),
        status=status(int(message.status.code)),
        status_message=message.status.message or None,
        scope=scope,
        scope_version=version,
        resource=resource,
    )


def _records(data: LogsData) -> Iterator[LogRecord]:
    for group in data.resource_logs:
        for scoped in group.scope_logs:
            yield from map(_record, scoped.log_records)


def _record(message: LogMessage) -> LogRecord:
    attributes = _flat(message.attributes)
    event = SpanEvent(
        name=event_name(message.event_name, attributes),
        time=_time(message.time_unix_nano) or _time(message.observed_time_unix_nano),
        attributes=attributes,
        body=_plain(message.body),
    )
    return LogRecord(_id(message.trace_id), _id(message.span_id), event)


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
    scalar: Json = getattr(value, which)
    return scalar
