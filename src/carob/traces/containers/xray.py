"""AWS X-Ray: segment documents, which hold their subsegments and keep attributes as metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.flat import span_of
from carob.traces.shape import first, table, tables, text

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
