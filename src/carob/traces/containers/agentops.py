"""AgentOps: attributes as nested objects instead of dotted names."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.attributes import flatten_nested
from carob.traces.containers.flat import has_nested_attributes, span_of
from carob.traces.normalize import identity
from carob.traces.shape import as_object, first_value, fold_keys, objects_in


class AgentOps:
    """A trace with `spans`, or one of its spans: `span_attributes` hold objects."""

    name = "agentops"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        spans = objects_in(fields.get("spans"))
        if any("child_spans" in span for span in spans):
            return False
        return has_nested_attributes(fields) or any(map(has_nested_attributes, spans))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        around = fold_keys(as_object(fields.get("trace"))) | fold_keys(fields)
        trace_id = identity(first_value(around, "traceid", "id"))
        for inner in [fields] if has_nested_attributes(fields) else objects_in(fields.get("spans")):
            span = span_of(inner)
            yield msgspec.structs.replace(
                span,
                trace_id=span.trace_id or trace_id,
                attributes=flatten_nested(span.attributes),
                resource=flatten_nested(span.resource),
            )
