"""AWS X-Ray: segment documents, which hold their subsegments and keep attributes as metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import is_log, log_of, span_of
from carob.traces.shape import decode_structure, first, fold_keys, table, tables, text

_TRACE = re.compile(r"1-[0-9a-fA-F]{8}-[0-9a-fA-F]{24}")
_FAILED = ("fault", "error", "throttle")


class XRay:
    """A segment: an `id`, a `trace_id` in X-Ray's spelling, and times in seconds."""

    name = "x-ray"

    def claims(self, item: Json) -> bool:
        held = table(item)
        if "id" not in held or "start_time" not in held or "attributes" in held:
            return False
        return _TRACE.fullmatch(text(held.get("trace_id")) or "") is not None

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        segment = table(item)
        pending = [(segment, segment.get("parent_id"))]
        while pending:
            held, parent = pending.pop()
            yield _span(held, segment.get("trace_id"), parent)
            inner = tables(held.get("subsegments"))
            pending.extend((one, held.get("id")) for one in reversed(inner))


def _span(held: dict[str, Json], trace_id: Json, parent: Json) -> Span:
    exceptions = tables(table(held.get("cause")).get("exceptions"))
    return span_of(
        {
            "trace_id": trace_id,
            "span_id": held.get("id"),
            "parent_id": parent,
            "name": held.get("name"),
            "start_time": held.get("start_time"),
            "end_time": held.get("end_time"),
            "attributes": {**_attributes(held)},
            "status": "ERROR" if any(held.get(key) is True for key in _FAILED) else None,
            "status_message": first(exceptions[0], "message", "type") if exceptions else None,
        }
    )


def _attributes(held: dict[str, Json]) -> dict[str, Json]:
    """The metadata of all namespaces; annotations are copies whose names have lost their dots."""
    found = dict(table(held.get("annotations")))
    for space in table(held.get("metadata")).values():
        found |= table(space)
    return found


_HOLDERS = ("raw_otel_json", "@message", "message")


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
        cells = tables(item)
        item = {text(cell.get("field")) or "": cell.get("value") for cell in cells}
    return table(decode_structure(first(table(item), *_HOLDERS)))


def _is_record(record: dict[str, Json]) -> bool:
    return "traceid" in fold_keys(record)
