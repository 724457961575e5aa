"""Build spans for stores with a vocabulary of their own: what `conventions.observations` reads."""

from __future__ import annotations

from typing import NamedTuple

from carob.schema import Json, Span
from carob.traces.mapping.convention import SpanRole
from carob.traces.normalize import identity, instant


class Observation(NamedTuple):
    """One span of a store; a field that the store does not record is `None`."""

    recorder: str
    role: SpanRole
    trace_id: Json
    span_id: Json
    parent_id: Json = None
    name: str | None = None
    start: Json = None
    end: Json = None
    input: Json = None
    output: Json = None
    model: str | None = None
    usage: Json = None
    agent: str | None = None
    conversation: str | None = None
    graph_path: str | None = None
    """The path of the step of LangGraph that the span belongs to."""
    error: str | None = None

    def to_span(self) -> Span:
        """Return the span with its fields as attributes."""
        fields: dict[str, Json] = {
            "role": self.role,
            "input": self.input,
            "output": self.output,
            "model": self.model,
            "usage": self.usage,
            "agent": self.agent,
            "conversation": self.conversation,
            "graph_path": self.graph_path,
        }
        return Span(
            trace_id=identity(self.trace_id),
            span_id=identity(self.span_id),
            parent_id=identity(self.parent_id) or None,
            name=self.name or "",
            start=instant(self.start),
            end=instant(self.end),
            attributes={f"observation.{key}": v for key, v in fields.items() if v is not None},
            status="error" if self.error else "unset",
            status_message=self.error,
            scope=self.recorder,
        )
