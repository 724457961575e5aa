"""One OTLP export request, as a receiver gets it: strict where a file reader guesses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from carob.errors import FormatError
from carob.schema import Span
from carob.schema.base import prepare_type
from carob.traces.containers import otlp, otlp_proto
from carob.traces.containers.container import LogRecord, RecordOutline
from carob.traces.containers.otlp_loose import Otlp

Signal: TypeAlias = Literal["traces", "logs"]
Encoding: TypeAlias = Literal["protobuf", "json"]
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")
_WHERE = "request"


class ExportRequest(NamedTuple):
    """The records of a request, and how many were refused because their ids are invalid."""

    records: list[Span | LogRecord]
    rejected: int


class RequestOutline(NamedTuple):
    """The outlines of the valid records of a request, and how many were refused."""

    records: list[RecordOutline]
    rejected: int


def read_request(body: bytes, signal: Signal, encoding: Encoding) -> ExportRequest:
    """Decode a request. Raises `FormatError` if it is none."""
    if encoding == "json":
        return _select_valid(_read_json(body), signal)
    if signal == "logs":
        return _select_logs(otlp_proto.read_logs(body, source=_WHERE))
    spans = otlp_proto.read_spans(body, source=_WHERE)
    # Ids that were bytes are hex, and zeros are an empty text.
    valid = [span for span in spans if len(span.trace_id) == 32 and len(span.span_id) == 16]
    return ExportRequest([*valid], len(spans) - len(valid))


def outline_request(
    body: bytes, signal: Signal, encoding: Encoding, attributes: Collection[str]
) -> RequestOutline:
    """Check a request, and decode what an index needs of it: ids, times and at least these
    attributes of its spans. Of protobuf nothing else is decoded, which would take most of the time.

    Raises `FormatError` if it is no request.
    """
    if encoding == "json":
        request = read_request(body, signal, encoding)
        return RequestOutline([_outline(record) for record in request.records], request.rejected)
    if signal == "logs":
        logs = otlp_proto.outline_logs(body, source=_WHERE)
        valid = [log for log in logs if len(log.trace_id) == 32]
        return RequestOutline(valid, len(logs) - len(valid))
    return RequestOutline(*otlp_proto.outline_spans(body, attributes, source=_WHERE))


def _outline(record: Span | LogRecord) -> RecordOutline:
    if isinstance(record, LogRecord):
        return RecordOutline(record.trace_id)
    return RecordOutline(
        record.trace_id,
        record.span_id,
        record.start,
        record.end if record.parent_id is None else None,
        record.resource,
        lambda: record.attributes,
    )


def _select_valid(records: Iterable[Span | LogRecord], signal: Signal) -> ExportRequest:
    if signal == "logs":
        return _select_logs([log for log in records if isinstance(log, LogRecord)])
    spans = [span for span in records if isinstance(span, Span)]
    valid: list[Span | LogRecord] = [*filter(_has_valid_ids, spans)]
    return ExportRequest(valid, len(spans) - len(valid))


def _select_logs(logs: Sequence[LogRecord]) -> ExportRequest:
    """Select the log records of a trace: only these become part of a session, and retention would
    never remove the others."""
    valid: list[Span | LogRecord] = [log for log in logs if _TRACE_ID.fullmatch(log.trace_id)]
    return ExportRequest(valid, len(logs) - len(valid))


def count_data_points(body: bytes, encoding: Encoding) -> int:
    """Count the data points of a metrics request. Raises `FormatError` if it is none."""
    if encoding == "protobuf":
        return otlp_proto.count_data_points(body, source=_WHERE)
    try:
        request = msgspec.json.decode(body or b"{}", type=prepare_type(_MetricsRequest))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not a metrics request: {error}", where=_WHERE) from error
    return sum(
        len(points.data_points or ())
        for resource in request.resource_metrics or ()
        for scope in resource.scope_metrics or ()
        for metric in scope.metrics or ()
        for points in (metric.gauge, metric.sum, metric.histogram, metric.exponential_histogram)
        if points
    )


class _Points(msgspec.Struct, rename="camel"):
    data_points: list[msgspec.Raw] | None = None


class _OtlpMetric(msgspec.Struct, rename="camel"):
    gauge: _Points | None = None
    sum: _Points | None = None
    histogram: _Points | None = None
    exponential_histogram: _Points | None = None


class _ScopeMetrics(msgspec.Struct):
    metrics: list[_OtlpMetric] | None = None


class _ResourceMetrics(msgspec.Struct, rename="camel"):
    scope_metrics: list[_ScopeMetrics] | None = None


class _MetricsRequest(msgspec.Struct, rename="camel"):
    resource_metrics: list[_ResourceMetrics] | None = None


def _has_valid_ids(span: Span) -> bool:
    return bool(_TRACE_ID.fullmatch(span.trace_id) and _SPAN_ID.fullmatch(span.span_id))


def _read_json(body: bytes) -> list[Span | LogRecord]:
    try:
        value = otlp.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not valid JSON: {error}", where=_WHERE) from error
    if isinstance(value, otlp.Records):
        return value
    if not isinstance(value, dict):
        raise FormatError("not an export request: expected an object", where=_WHERE)
    for name in ("resourceSpans", "resourceLogs"):
        if not isinstance(value.get(name), list | None):
            raise FormatError(f"{name} is not a list", where=_WHERE)
    return [*Otlp().read(value, source=_WHERE)]
