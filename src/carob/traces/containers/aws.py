"""AWS: segment documents of X-Ray, and spans or log records as JSON in CloudWatch log events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import is_log, log_of, span_of
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_keys,
    objects_in,
)

_TRACE = re.compile(r"1-[0-9a-fA-F]{8}-[0-9a-fA-F]{24}")
_FAILED = ("fault", "error", "throttle")


class XRay:
    """A segment: an `id`, a `trace_id` in X-Ray's spelling, and times in seconds."""

    name = "x-ray"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if "id" not in fields or "start_time" not in fields or "attributes" in fields:
            return False
        return _TRACE.fullmatch(as_text(fields.get("trace_id")) or "") is not None

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        segment = as_object(item)
        pending = [(segment, segment.get("parent_id"))]
        while pending:
            fields, parent = pending.pop()
            yield _span(fields, segment.get("trace_id"), parent)
            inner = objects_in(fields.get("subsegments"))
            pending.extend((child, fields.get("id")) for child in reversed(inner))


def _span(fields: dict[str, Json], trace_id: Json, parent: Json) -> Span:
    exceptions = objects_in(as_object(fields.get("cause")).get("exceptions"))
    return span_of(
        {
            "trace_id": trace_id,
            "span_id": fields.get("id"),
            "parent_id": parent,
            "name": fields.get("name"),
            "start_time": fields.get("start_time"),
            "end_time": fields.get("end_time"),
            "attributes": {**_attributes(fields)},
            "status": "ERROR" if any(fields.get(key) is True for key in _FAILED) else None,
            "status_message": first_value(exceptions[0], "message", "type") if exceptions else None,
        }
    )


def _attributes(fields: dict[str, Json]) -> dict[str, Json]:
    """The metadata of all namespaces; annotations are copies whose names have lost their dots."""
    attributes = dict(as_object(fields.get("annotations")))
    for space in as_object(fields.get("metadata")).values():
        attributes |= as_object(space)
    return attributes


_RECORD_KEYS = ("raw_otel_json", "@message", "message")


class CloudWatch:
    """A log event around a record, or a row of a query as a list of `field` and `value`."""

    name = "cloudwatch"

    def claims(self, item: Json) -> bool:
        return _is_record(_record(item))

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        record = _record(item)
        yield log_of(record) if is_log(record) else span_of(record)


def _record(item: Json) -> dict[str, Json]:
    if isinstance(item, list):
        cells = objects_in(item)
        item = {as_text(cell.get("field")) or "": cell.get("value") for cell in cells}
    return as_object(decode_structure(first_value(as_object(item), *_RECORD_KEYS)))


def _is_record(record: dict[str, Json]) -> bool:
    return "traceid" in fold_keys(record)
