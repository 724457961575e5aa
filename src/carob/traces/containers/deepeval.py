"""DeepEval: a trace as it sends it to Confident AI, with a list of spans for each type."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import as_object, as_text, objects_in

_LISTS: dict[str, SpanRole] = {
    "baseSpans": "chain",
    "agentSpans": "agent",
    "llmSpans": "model",
    "toolSpans": "tool",
    "retrieverSpans": "retriever",
}
_UNKNOWN = "NA"
_FAILED = "ERRORED"


class DeepEval:
    """A trace with an id and at least one of the lists of spans."""

    name = "deepeval"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return "uuid" in fields and any(isinstance(fields.get(key), list) for key in _LISTS)

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        trace = as_object(item)
        trace_id = trace.get("uuid")
        yield _observe(trace, "workflow", trace_id, None)
        for key, role in _LISTS.items():
            for span in objects_in(trace.get(key)):
                yield _observe(span, role, trace_id, span.get("parentUuid") or trace_id)


def _observe(span: dict[str, Json], role: SpanRole, trace_id: Json, parent: Json) -> Span:
    name = as_text(span.get("name"))
    counts: dict[str, Json] = {
        "input_tokens": span.get("inputTokenCount"),
        "output_tokens": span.get("outputTokenCount"),
    }
    failed = span.get("status") == _FAILED
    return Observation(
        recorder="deepeval",
        role=role,
        trace_id=trace_id,
        span_id=span.get("uuid"),
        parent_id=parent,
        name=name,
        start=span.get("startTime"),
        end=span.get("endTime"),
        input=span.get("input"),
        output=span.get("output"),
        model=_model(span) if role == "model" else None,
        usage=counts if role == "model" else None,
        agent=name if role == "agent" else None,
        conversation=as_text(span.get("threadId")),
        error=(as_text(span.get("error")) or "error") if failed else None,
    ).to_span()


def _model(span: dict[str, Json]) -> str | None:
    """The model; where DeepEval does not know it, the one that the request names."""
    request = as_object(as_object(span.get("input")).get("kwargs"))
    return as_text(request.get("model") if span.get("model") == _UNKNOWN else span.get("model"))
