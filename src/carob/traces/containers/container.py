"""What a container is: a way in which spans, log records or whole traces are written down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

import msgspec

from carob.schema import Json, Span, SpanEvent, Trace


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """A log record that names the span it belongs to; an empty id is one that it does not name."""

    trace_id: str
    span_id: str
    event: SpanEvent


Record: TypeAlias = Span | LogRecord | Trace


class Container(Protocol):
    """One way to write recordings down, recognised by its items, not by what is around them."""

    @property
    def name(self) -> str: ...

    def claims(self, item: Json) -> bool:
        """Is this item ours? Never raises; a broken item of ours is still ours."""
        ...

    def read(self, item: Json, *, source: str) -> Iterator[Record]:
        """The spans, log records or traces of an item that we claim."""
        ...
