"""LangSmith runs.

A run carries its own fields as attributes: `langsmith.run_type` (`chain`, `llm`, `tool`,
`retriever`, …), `.inputs`, `.outputs`, `.extra`, `.error`, `.serialized`, `.tags`,
`.prompt_tokens`, `.completion_tokens`, `.total_tokens`, `.session_id` (the project) and
`.thread_id` (the conversation), each where the run has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span, SpanEvent
from carob.traces.normalize import identity, instant
from carob.traces.shape import as_object, as_text, decode_structure, first_value, objects_in

_FIELDS = (
    "run_type",
    "inputs",
    "outputs",
    "extra",
    "error",
    "serialized",
    "tags",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "session_id",
    "thread_id",
)


class LangSmith:
    """A run, which has a `run_type`, or a batch of runs as clients send it."""

    name = "langsmith"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if "run_type" in fields:
            return first_value(fields, "id", "run_id") is not None
        runs = (*objects_in(fields.get("post")), *objects_in(fields.get("patch")))
        return any(map(_is_part, runs))

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        runs = [as_object(item)] if "run_type" in as_object(item) else _join_batch(as_object(item))
        pending: list[tuple[dict[str, Json], Span | None]] = [(run, None) for run in reversed(runs)]
        while pending:
            fields, parent = pending.pop()
            span = _span(fields, parent)
            yield span
            pending.extend(
                (child, span) for child in reversed(objects_in(fields.get("child_runs")))
            )


def _is_part(run: dict[str, Json]) -> bool:
    """Whether it is a run of a batch; older clients do not repeat the type when a run ends."""
    return "id" in run and ("run_type" in run or "dotted_order" in run)


def _join_batch(batch: dict[str, Json]) -> list[dict[str, Json]]:
    """The runs of a batch: `post` begins a run, and `patch` ends it with its outputs."""
    runs: dict[str, dict[str, Json]] = {}
    for run in (*objects_in(batch.get("post")), *objects_in(batch.get("patch"))):
        known = runs.setdefault(identity(first_value(run, "id", "run_id")), {})
        known |= {key: value for key, value in run.items() if value is not None}
    return list(runs.values())


def _span(item: dict[str, Json], parent: Span | None) -> Span:
    own = identity(first_value(item, "id", "run_id"))
    error = as_text(item.get("error")) or None
    attributes = {
        f"langsmith.{key}": decode_structure(item[key])
        for key in _FIELDS
        if item.get(key) is not None
    }
    return Span(
        trace_id=_trace_id(item) or (parent.trace_id if parent else own),
        span_id=own,
        parent_id=identity(item.get("parent_run_id")) or (parent.span_id if parent else None),
        name=as_text(item.get("name")) or "",
        start=instant(item.get("start_time")),
        end=instant(item.get("end_time")),
        attributes=attributes,
        events=tuple(map(_event, objects_in(item.get("events")))),
        status="error" if error or item.get("status") == "error" else "unset",
        status_message=error,
        scope="langsmith",
    )


def _trace_id(item: dict[str, Json]) -> str:
    """The `trace_id`, else the first run in the path of `dotted_order`."""
    trace_id = identity(item.get("trace_id"))
    if trace_id:
        return trace_id
    start, _, run = (as_text(item.get("dotted_order")) or "").split(".")[0].partition("Z")
    return identity(run) if start else ""


def _event(item: dict[str, Json]) -> SpanEvent:
    fields = item.get("kwargs")
    return SpanEvent(
        name=as_text(item.get("name")) or "",
        time=instant(item.get("time")),
        attributes=fields if isinstance(fields, dict) else {},
    )
