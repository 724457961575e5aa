"""any-agent: a list of spans with decimal ids, and the final output beside it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.flat import span_of
from carob.traces.containers.python_console import has_context
from carob.traces.shape import as_object, objects_in


class AnyAgent:
    """`spans` and a `final_output`, which goes to the root span as `any_agent.final_output`."""

    name = "any-agent"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        spans = objects_in(fields.get("spans"))
        return "final_output" in fields and bool(spans) and has_context(spans[0])

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        output = fields.get("final_output")
        for span in map(span_of, objects_in(fields.get("spans"))):
            if span.parent_id or output is None:
                yield span
            else:
                attributes = span.attributes | {"any_agent.final_output": output}
                yield msgspec.structs.replace(span, attributes=attributes)
