"""The protocol of containers: how spans, log records or whole traces are packed in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from carob.schema import Json, Span, SpanEvent, Trace


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """A log record with the ids of its span; an id that it does not state is empty."""

    trace_id: str
    span_id: str
    event: SpanEvent


class RecordOutline(msgspec.Struct, gc=False):
    """What an index of sessions needs to know of a span or log record."""

    trace_id: str
    span_id: str | None = None
    """`None` for a log record, which has nothing below either."""
    start: int | None = None
    root_end: int | None = None
    """The end of a span that has no parent."""
    resource: dict[str, Json] = {}
    read_attributes: Callable[[], dict[str, Json]] = dict
    """Reads its attributes, which takes longer than all the rest."""


Record: TypeAlias = Span | LogRecord | Trace


class Container(Protocol):
    """One way to pack traces, recognized by its items and not by the objects around them."""

    @property
    def name(self) -> str: ...

    def claims(self, item: Json) -> bool:
        """Whether the item belongs to this container. Must not raise, even for a broken
        item, which still belongs to it."""
        ...

    def read(self, item: Json, *, source: str) -> Iterator[Record]:
        """The spans, log records or traces of an item that this container claims."""
        ...


@runtime_checkable
class LineContainer(Container, Protocol):
    """A container of items that mean little alone, such as the messages of a chat.

    A file may have one of them per line. They are collected, and read as one list.
    """

    def claims_line(self, item: Json) -> bool:
        """Whether the item is one of those in the list."""
        ...
