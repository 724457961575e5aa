"""Datadog LLM Observability: spans as its API takes and returns them."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import as_count, as_object, as_text, first_value, objects_in

_ROLES: dict[Json, SpanRole] = {
    "llm": "model",
    "tool": "tool",
    "agent": "agent",
    "workflow": "workflow",
    "task": "chain",
    "retrieval": "retriever",
    "embedding": "skip",
}
_NO_PARENT = "undefined"


class Datadog:
    """A span with a kind and a start in nanoseconds, or a request or result around some."""

    name = "datadog"

    def claims(self, item: Json) -> bool:
        return bool(_spans(item))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        session = as_text(as_object(as_object(item).get("attributes")).get("session_id"))
        for span in _spans(item):
            yield _observe(span, session)


def _spans(item: Json) -> list[dict[str, Json]]:
    fields = as_object(item)
    attributes = as_object(fields.get("attributes")) or fields
    spans = objects_in(attributes.get("spans")) or [attributes]
    return spans if all(map(_is_span, spans)) else []


def _is_span(span: dict[str, Json]) -> bool:
    return span.keys() >= {"span_id", "trace_id", "start_ns"} and _kind(span) in _ROLES


def _observe(span: dict[str, Json], session: str | None) -> Span:
    meta = as_object(span.get("meta")) or span
    role = _ROLES[_kind(span)]
    start = as_count(span.get("start_ns"))
    length = as_count(span.get("duration"))
    parent = span.get("parent_id")
    error = as_object(meta.get("error"))
    settings = as_object(meta.get("metadata"))
    model = first_value(meta, "model_name") or first_value(settings, "model_name")
    name = as_text(span.get("name"))
    return Observation(
        recorder="datadog",
        role=role,
        trace_id=span.get("trace_id"),
        span_id=span.get("span_id"),
        parent_id=None if parent == _NO_PARENT else parent,
        name=name,
        start=start,
        end=None if start is None or length is None else start + length,
        input=_content(meta.get("input")),
        output=_content(meta.get("output")),
        model=as_text(model),
        usage=span.get("metrics") if role == "model" else None,
        agent=name if role == "agent" else None,
        conversation=as_text(span.get("session_id")) or session,
        error=as_text(error.get("message")) or ("error" if error else None),
    ).to_span()


def _kind(span: dict[str, Json]) -> str | None:
    meta = as_object(span.get("meta"))
    kind = first_value(meta, "kind", "span.kind") or as_object(meta.get("span")).get("kind")
    return as_text(kind or span.get("span_kind"))


def _content(value: Json) -> Json:
    fields = as_object(value)
    return first_value(fields, "messages", "value") if fields else value
