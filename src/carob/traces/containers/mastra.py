"""Mastra: traces of its own API and store, whose spans have a type.

A generation is a loop of model calls and counts their tokens; the steps within it repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
    to_text,
)

_ROLES: dict[Json, SpanRole] = {
    "agent_run": "agent",
    "model_generation": "model",
    "llm_generation": "model",
    "tool_call": "tool",
    "mcp_tool_call": "tool",
    "workflow_run": "workflow",
    "workflow_step": "chain",
}


class Mastra:
    """A trace with `spans`, or a span, that has a `spanType`."""

    name = "mastra"

    def claims(self, item: Json) -> bool:
        return bool(_spans(item))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        for span in _spans(item):
            yield _observe(span)


def _spans(item: Json) -> list[dict[str, Json]]:
    fields = as_object(item)
    spans = objects_in(fields.get("spans")) or [fields]
    is_span = all(isinstance(span.get("spanType"), str) and "spanId" in span for span in spans)
    return spans if is_span else []


def _observe(span: dict[str, Json]) -> Span:
    role = _ROLES.get(span.get("spanType"), "chain")
    attributes = as_object(decode_structure(span.get("attributes")))
    entity = as_text(first_value(span, "entityName", "name"))
    metadata = as_object(decode_structure(span.get("metadata")))
    error = span.get("error") or as_object(span.get("errorInfo")) or None
    is_step = role == "chain"
    return Observation(
        recorder="mastra",
        role=role,
        trace_id=span.get("traceId"),
        span_id=span.get("spanId"),
        parent_id=span.get("parentSpanId"),
        name=entity if role in ("tool", "agent") else as_text(span.get("name")),
        start=span.get("startedAt"),
        end=span.get("endedAt"),
        # What goes in and out of a step of the loop is a part of the generation's.
        input=None if is_step else span.get("input"),
        output=None if is_step else span.get("output"),
        model=as_text(attributes.get("model")) if role == "model" else None,
        usage=_read_usage(attributes.get("usage")) if role == "model" else None,
        agent=entity if role == "agent" else None,
        conversation=as_text(first_value(metadata, "threadId", "sessionId")),
        error=None if error is None else _describe_error(error),
    ).to_span()


def _read_usage(usage: Json) -> Json:
    """The counts; those of the cache and of reasoning are details of the input and output."""
    counts = as_object(usage)
    inputs, outputs = as_object(counts.get("inputDetails")), as_object(counts.get("outputDetails"))
    details: dict[str, Json] = {
        "cachedInputTokens": inputs.get("cacheRead"),
        "reasoningTokens": outputs.get("reasoning"),
    }
    return {key: value for key, value in details.items() if value is not None} | counts or usage


def _describe_error(error: Json) -> str:
    """The message of an error, without the stack beside it."""
    return as_text(as_object(error).get("message")) or to_text(error)
