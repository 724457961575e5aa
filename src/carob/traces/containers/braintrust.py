"""Braintrust: rows of project logs and experiments, one per span."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import as_array, as_object, as_text, decode_structure, to_text

_ROLES: dict[Json, SpanRole] = {"llm": "model", "tool": "tool", "score": "skip", "scorer": "skip"}
_COUNTS = ("prompt_tokens", "completion_tokens", "tokens", "prompt_cached_tokens")


class Braintrust:
    """A row with `span_attributes` and the id of its root."""

    name = "braintrust"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return fields.keys() >= {"span_id", "root_span_id", "span_attributes"}

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        row = as_object(item)
        kind = as_object(decode_structure(row.get("span_attributes")))
        metrics = as_object(decode_structure(row.get("metrics")))
        parents = as_array(row.get("span_parents"))
        metadata = as_object(decode_structure(row.get("metadata")))
        role = _ROLES.get(kind.get("type")) or ("chain" if parents else "workflow")
        error = row.get("error")
        yield Observation(
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
    counts = {key: metrics[key] for key in _COUNTS if metrics.get(key) is not None}
    if "tokens" in counts:
        counts["total_tokens"] = counts.pop("tokens")
    return counts or None
