"""Braintrust: rows of project logs and experiments, one per span."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in, to_text

_ROLES: dict[Json, SpanRole] = {"llm": "model", "tool": "tool", "score": "skip", "scorer": "skip"}
_ROW = frozenset(("span_id", "root_span_id"))
_COUNTS = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "tokens": "total_tokens",
    "prompt_cached_tokens": "cached_tokens",
    "completion_reasoning_tokens": "reasoning_tokens",
}
"""The counts of a row, and what others call them."""


class Braintrust:
    """A row with `span_attributes` and the id of its root, or requests with rows of a client."""

    name = "braintrust"

    def claims(self, item: Json) -> bool:
        if isinstance(item, dict) and "rows" not in item:
            return item.keys() >= _ROW and "span_attributes" in item
        requests = [item] if isinstance(item, dict) else objects_in(item)
        return bool(requests) and all(map(_is_request, requests))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        is_row = "span_attributes" in as_object(item)
        for row in [as_object(item)] if is_row else _join_rows(item):
            yield _observe(row)


def _is_request(item: dict[str, Json]) -> bool:
    rows = objects_in(item.get("rows"))
    return bool(rows) and all(row.keys() >= _ROW for row in rows)


def _join_rows(item: Json) -> list[dict[str, Json]]:
    """The rows of requests: a client sends a row when a span begins, and adds to it later."""
    joined: dict[str | None, dict[str, Json]] = {}
    for request in [as_object(item)] if isinstance(item, dict) else objects_in(item):
        for row in objects_in(request.get("rows")):
            known = joined.setdefault(as_text(row.get("id")), {})
            for key, value in row.items():
                is_nested = isinstance(value, dict) and isinstance(known.get(key), dict)
                known[key] = as_object(known[key]) | as_object(value) if is_nested else value
    return list(joined.values())


def _observe(row: dict[str, Json]) -> Span:
    kind = as_object(decode_structure(row.get("span_attributes")))
    metrics = as_object(decode_structure(row.get("metrics")))
    parents = as_array(row.get("span_parents"))
    metadata = as_object(decode_structure(row.get("metadata")))
    role = _ROLES.get(as_text(kind.get("type"))) or ("chain" if parents else "workflow")
    error = row.get("error")
    return Observation(
        recorder="braintrust",
        role=role,
        trace_id=row.get("root_span_id"),
        span_id=row.get("span_id"),
        parent_id=parents[0] if parents else None,
        name=as_text(kind.get("name")),
        start=metrics.get("start") or row.get("created"),
        end=metrics.get("end"),
        input=row.get("input"),
        output=row.get("output"),
        model=as_text(metadata.get("model")) if role == "model" else None,
        usage=_usage(metrics) if role == "model" else None,
        error=None if error is None else to_text(error),
    ).to_span()


def _usage(metrics: dict[str, Json]) -> Json:
    counts = {name: metrics[key] for key, name in _COUNTS.items() if metrics.get(key) is not None}
    return counts or None
