from __future__ import annotations

from typing import Literal

from carob.schema.noun import Json, Noun


class SpanEvent(Noun, frozen=True):
    """Something that happened within a span: a span event, or a log record that belongs to it."""

    name: str
    time: int | None = None
    """Unix time in nanoseconds."""
    attributes: dict[str, Json] = {}
    body: Json = None
    """The body of a log record."""


class Span(Noun, frozen=True):
    """One operation that an instrumentation recorded, whatever container it came in."""

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str = "internal"
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None
    attributes: dict[str, Json] = {}
    events: tuple[SpanEvent, ...] = ()
    status: Literal["unset", "ok", "error"] = "unset"
    status_message: str | None = None
    scope: str = ""
    scope_version: str = ""
    resource: dict[str, Json] = {}
