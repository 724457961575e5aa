"""MLflow: traces with their info and data, and rows of `search_traces`.

The session of a trace is in its info only, and not in its spans.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.flat import span_of
from carob.traces.shape import as_object, as_text, decode_structure, first_value, objects_in

_SESSION = "mlflow.trace.session"
_METADATA = ("trace_metadata", "request_metadata")
"""The names since version 3 and before."""


class MlFlowTrace:
    """An object with `info` and the spans in `data`, or a row with both in columns."""

    name = "mlflow"

    def claims(self, item: Json) -> bool:
        info, spans = _parts(as_object(item))
        return bool(spans) and first_value(info, *_METADATA) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        info, spans = _parts(as_object(item))
        metadata = as_object(decode_structure(first_value(info, *_METADATA)))
        session = as_text(metadata.get(_SESSION))
        for fields in spans:
            span = span_of(fields)
            if session is not None:
                attributes = {_SESSION: session, **span.attributes}
                span = msgspec.structs.replace(span, attributes=attributes)
            yield span


def _parts(fields: dict[str, Json]) -> tuple[dict[str, Json], list[dict[str, Json]]]:
    info, data = as_object(fields.get("info")), as_object(decode_structure(fields.get("data")))
    if info and data:
        return info, objects_in(data.get("spans"))
    return fields, objects_in(decode_structure(fields.get("spans")))
