"""ADK sessions: a session with its events, or the events alone."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.adk_events import session_of
from carob.traces.shape import folded, parsed, rows, table

_MARKS = ("content", "actions", "invocationid", "errorcode")


class AdkSession:
    """A session: events that have an `author`."""

    name = "adk-session"

    def claims(self, item: Json) -> bool:
        held = folded(table(item))
        events = parsed(held.get("events"))
        return are_events(item) or are_events(events) or (events == [] and "appname" in held)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        session: dict[str, Json] = {"events": item} if isinstance(item, list) else table(item)
        if folded(session).get("events"):
            yield session_of(session, source=source)


def are_events(value: Json) -> bool:
    """Is this a list of ADK events?"""
    return bool(rows(value)) and all(map(_is_event, rows(value)))


def _is_event(value: Json) -> bool:
    event = folded(table(value))
    return "author" in event and any(mark in event for mark in _MARKS)
