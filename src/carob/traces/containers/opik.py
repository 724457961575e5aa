"""Opik: traces and spans of its API and its export.

A span carries the fields that Opik has and OpenTelemetry lacks as attributes: `opik.type` (`llm`,
`tool`, `general`, `guardrail`), `.input`, `.output`, `.usage`, `.model`, `.provider`. The trace
itself is a root span of the type `trace` with the conversation as `opik.thread_id`.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.normalize import identity, instant
from carob.traces.shape import as_object, as_text, decode_structure, fold_keys, objects_in

_TYPES = frozenset(("llm", "tool", "general", "guardrail"))
_PARENT_KEYS = ("parent_span_id", "parentSpanId")
_TRACE_KEYS = frozenset(("threadid", "spancount", "llmspancount", "totalestimatedcost"))
_ORIGINAL = "original_usage."
_FIELDS = ("type", "input", "output", "usage", "model", "provider")


class Opik:
    """A span of one of Opik's types, a trace, or a trace with its spans."""

    name = "opik"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        spans = fields.get("spans")
        if isinstance(spans, list) and spans:
            return all(_is_span(as_object(span)) for span in spans)
        return _is_span(fields) or _is_trace(fold_keys(fields))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = fold_keys(as_object(item))
        if _is_span(as_object(item)):
            yield _span(fields)
            return
        trace = fold_keys(as_object(fields.get("trace"))) or fields
        if "id" in trace:
            yield _trace_span(trace)
        for span in objects_in(fields.get("spans")):
            yield _span(fold_keys(span))


def _is_span(item: dict[str, Json]) -> bool:
    """Langfuse's observations have ids and types as well, but name their parent in another way."""
    fields = fold_keys(item)
    kind = as_text(fields.get("type"))
    if kind not in _TYPES or not fields.keys() >= {"id", "traceid", "starttime"}:
        return False
    return any(key in item for key in _PARENT_KEYS) or kind in {"llm", "general"}


def _is_trace(fields: dict[str, Json]) -> bool:
    has_times = fields.keys() >= {"id", "starttime", "projectid"}
    return has_times and "traceid" not in fields and not _TRACE_KEYS.isdisjoint(fields)


def _trace_span(item: dict[str, Json]) -> Span:
    trace_id = identity(item.get("id"))
    attributes: dict[str, Json] = _attributes(item) | {"opik.type": "trace"}
    if thread := as_text(item.get("threadid")):
        attributes["opik.thread_id"] = thread
    return _base_span(item, trace_id, trace_id, None, attributes)


def _span(item: dict[str, Json]) -> Span:
    trace_id = identity(item.get("traceid"))
    parent = identity(item.get("parentspanid")) or trace_id
    return _base_span(item, trace_id, identity(item.get("id")), parent, _attributes(item))


def _attributes(item: dict[str, Json]) -> dict[str, Json]:
    attributes = {f"opik.{key}": item[key] for key in _FIELDS if item.get(key) is not None}
    if original := _original_usage(as_object(item.get("usage"))):
        attributes["opik.usage"] = original
    return attributes


def _original_usage(counts: dict[str, Json]) -> dict[str, Json]:
    """The provider's own counts, which have more than Opik's: `a.b` is `b` in `a`."""
    nested: dict[str, Json] = {}
    for path, count in counts.items():
        if path.startswith(_ORIGINAL):
            group, _, name = path.removeprefix(_ORIGINAL).rpartition(".")
            nested |= (
                {group: {**as_object(nested.get(group)), name: count}} if group else {name: count}
            )
    return nested


def _base_span(
    item: dict[str, Json],
    trace_id: str,
    span_id: str,
    parent_id: str | None,
    attributes: dict[str, Json],
) -> Span:
    error = fold_keys(as_object(decode_structure(item.get("errorinfo"))))
    message = as_text(error.get("message")) or as_text(error.get("exceptiontype"))
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=as_text(item.get("name")) or "",
        start=instant(item.get("starttime")),
        end=instant(item.get("endtime")),
        attributes=attributes,
        status="error" if error else "unset",
        status_message=message,
    )
