"""AWS CloudWatch and X-Ray: a span or a log record as JSON inside a log event."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import is_log, log_of, span_of
from carob.traces.shape import first, folded, parsed, table, tables, text

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
    return table(parsed(first(table(item), *_HOLDERS)))


def _is_record(record: dict[str, Json]) -> bool:
    return "traceid" in folded(record)
