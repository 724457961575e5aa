"""Spans that contain their children, as in TRAIL and other exports of span stores."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import log_of, span_of
from carob.traces.normalize import identity
from carob.traces.shape import as_object, fold_keys, objects_in

_CHILDREN = ("child_spans", "childSpans")


class Nested:
    """A span with `child_spans`, or a trace of such spans."""

    name = "nested"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return _is_parent(fields) or any(map(_is_parent, objects_in(fields.get("spans"))))

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        fields = as_object(item)
        trace_id = identity(fold_keys(fields).get("traceid"))
        roots = [fields] if _is_parent(fields) else objects_in(fields.get("spans"))
        # A stack instead of recursion: exports may nest deeper than Python's stack. It is filled
        # backwards, so that the spans come in the order of the file.
        pending = [(root, "") for root in reversed(roots)]
        while pending:
            inner, parent = pending.pop()
            span = span_of(inner)
            span = msgspec.structs.replace(
                span,
                trace_id=span.trace_id or trace_id,
                parent_id=span.parent_id or parent or None,
            )
            yield span
            for log in objects_in(inner.get("logs")):
                event = log_of(log).event
                yield LogRecord(span.trace_id, span.span_id, event)
            pending.extend((child, span.span_id) for child in reversed(_children(inner)))


def _is_parent(item: dict[str, Json]) -> bool:
    return any(isinstance(item.get(key), list) for key in _CHILDREN)


def _children(item: dict[str, Json]) -> list[dict[str, Json]]:
    return [child for key in _CHILDREN for child in objects_in(item.get(key))]
