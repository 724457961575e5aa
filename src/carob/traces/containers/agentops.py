"""AgentOps: dotted attribute names taken apart into nested objects."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.attributes import unnested
from carob.traces.containers.flat import has_nested_attributes, span_of
from carob.traces.normalize import identity
from carob.traces.shape import first, fold_keys, table, tables


class AgentOps:
    """A trace with `spans`, or one of its spans: `span_attributes` hold objects."""

    name = "agentops"

    def claims(self, item: Json) -> bool:
        held = table(item)
        spans = tables(held.get("spans"))
        if any("child_spans" in span for span in spans):
            return False
        return has_nested_attributes(held) or any(map(has_nested_attributes, spans))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        held = table(item)
        around = fold_keys(table(held.get("trace"))) | fold_keys(held)
        trace_id = identity(first(around, "traceid", "id"))
        for inner in [held] if has_nested_attributes(held) else tables(held.get("spans")):
            span = span_of(inner)
            yield msgspec.structs.replace(
                span,
                trace_id=span.trace_id or trace_id,
                attributes=unnested(span.attributes),
                resource=unnested(span.resource),
            )
