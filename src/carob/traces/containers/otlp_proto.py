"""OTLP protobuf: one message, or a file of the collector with the length before each message.

Trace and log requests look alike on the wire: parsed as the wrong one, their ids are empty.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from carob.errors import FormatError, InputError, install_hint
from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.container import LogRecord, RecordOutline
from carob.traces.containers.otlp import event_name
from carob.traces.normalize import DROPPED, KINDS, status

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    EventMessage: TypeAlias = SpanMessage.Event

_NO_TRACE_ID, _NO_SPAN_ID = bytes(16), bytes(8)


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
        yield from map(_record, _messages_of(logs))


def read_spans(raw: bytes, *, source: str) -> list[Span]:
    """The spans of one export request, which may be empty."""
    return _spans(_parse(raw, "traces", source))


def read_logs(raw: bytes, *, source: str) -> list[LogRecord]:
    """The log records of one export request, which may be empty."""
    return [_record(message) for message in _log_messages(raw, source)]


def outline_spans(
    raw: bytes, attributes: Collection[str], *, source: str
) -> tuple[list[RecordOutline], int]:
    """The outlines of the spans of one export request whose ids are valid, with some of their
    attributes, and the number of the other spans."""
    outlines: list[RecordOutline] = []
    invalid = 0
    for group in _parse(raw, "traces", source).resource_spans:
        resource = _flat(group.resource.attributes)
        for scoped in group.scope_spans:
            for span in scoped.spans:
                trace_id, span_id = span.trace_id, span.span_id
                if not _are_valid_ids(trace_id, span_id):
                    invalid += 1
                    continue
                # Each field of a message is a call that creates an object: ends are only read of
                # roots, and attributes only if they are asked for.
                start, is_root = span.start_time_unix_nano, not span.parent_span_id.strip(b"\0")
                outlines.append(
                    RecordOutline(
                        trace_id.hex(),
                        span_id.hex(),
                        start if 0 < start < _NO_TIME else None,
                        _time(span.end_time_unix_nano) if is_root else None,
                        resource,
                        partial(_select, span, attributes),
                    )
                )
    return outlines, invalid


def outline_logs(raw: bytes, *, source: str) -> list[RecordOutline]:
    """The outlines of the log records of one export request."""
    return [RecordOutline(_id(record.trace_id)) for record in _log_messages(raw, source)]


def _select(span: SpanMessage, names: Collection[str]) -> dict[str, Json]:
    return {key: _plain(pair.value) for pair in span.attributes if (key := pair.key) in names}


def _are_valid_ids(trace_id: bytes, span_id: bytes) -> bool:
    return (
        len(trace_id) == 16
        and len(span_id) == 8
        and trace_id != _NO_TRACE_ID
        and span_id != _NO_SPAN_ID
    )


def _parse(raw: bytes, signal: str, source: str) -> Any:
    """An export request, which has the same fields as the data in a file."""
    try:
        from google.protobuf.message import DecodeError

        if signal == "traces":
            from opentelemetry.proto.trace.v1.trace_pb2 import TracesData as Data
        else:
            from opentelemetry.proto.logs.v1.logs_pb2 import LogsData as Data
    except ImportError as error:
        raise _missing_library(source) from error
    data = Data()
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
    logs = _messages_of(data)
    return data if any(log.time_unix_nano or log.observed_time_unix_nano for log in logs) else None


def _missing_library(source: str) -> InputError:
    return InputError(
        "reading OTLP protobuf needs opentelemetry-proto",
        where=source,
        hint=install_hint("otlp"),
    )


def _spans(data: TracesData) -> list[Span]:
    spans: list[Span] = []
    for group in data.resource_spans:
        resource = _flat(group.resource.attributes)
        for scoped in group.scope_spans:
            name, version = scoped.scope.name, scoped.scope.version
            spans += [_span(span, name, version, resource) for span in scoped.spans]
    return spans


def _span(message: SpanMessage, scope: str, version: str, resource: dict[str, Json]) -> Span:
    # Each field of a message is a call that creates an object, so none is asked for twice.
    start, end, events = message.start_time_unix_nano, message.end_time_unix_nano, message.events
    state = message.status if message.HasField("status") else None
    attributes = _flat(message.attributes)
    if dropped := message.dropped_attributes_count:
        attributes[DROPPED] = dropped
    # By position, in the order of the fields: keyword arguments take a third of the time.
    return Span(
        _known_id(message.trace_id),
        _id(message.span_id),
        _known_id(message.parent_span_id) or None,
        message.name,
        KINDS.get(message.kind, "internal"),
        start if 0 < start < _NO_TIME else None,
        end if 0 < end < _NO_TIME else None,
        attributes,
        tuple([_event(event) for event in events]) if events else (),
        status(state.code) if state else "unset",
        (state.message or None) if state else None,
        scope,
        version,
        resource,
    )


def _event(message: EventMessage) -> SpanEvent:
    return SpanEvent(message.name, _time(message.time_unix_nano), _flat(message.attributes))


def _log_messages(raw: bytes, source: str) -> list[LogMessage]:
    return _messages_of(_parse(raw, "logs", source))


def _messages_of(data: LogsData) -> list[LogMessage]:
    scopes = [scoped for group in data.resource_logs for scoped in group.scope_logs]
    return [message for scoped in scopes for message in scoped.log_records]


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
    """An id as hex; zeros are none."""
    return raw.hex() if raw.strip(b"\0") else ""


_known_id = lru_cache(maxsize=8192)(_id)
"""The same for ids that repeat: of traces and parents."""
_NO_TIME = 1 << 63


def _time(value: int) -> int | None:
    return value if 0 < value < _NO_TIME else None


def _flat(pairs: Sequence[KeyValue]) -> dict[str, Json]:
    # Most values are texts, which need no call; the text is empty if another kind is set.
    return {pair.key: (value := pair.value).string_value or _plain(value) for pair in pairs}


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
