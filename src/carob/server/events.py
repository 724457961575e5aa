"""Server-sent events: one stream for everything that changes, which can be resumed.

Events are kept for ten minutes, so that a browser that lost its connection gets what it missed; one
that was away for longer is told to load the page again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from threading import Lock
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from carob.server.binding import check_role
from carob.server.problems import RequestError, problem_response

KEPT_SECONDS = 600
_MAX_KEPT = 10_000
_PING_SECONDS = 15
_PING = b": ping\n\n"


class Event(NamedTuple):
    """Something that happened."""

    number: int
    at: float
    kind: str
    """What changed: `session`, `run`, `dataset`, `ingest`, `alert`."""
    data: bytes

    def encode(self) -> bytes:
        """Return the event as it is sent. JSON has no line breaks, so that one line is enough."""
        return f"id: {self.number}\nevent: {self.kind}\ndata: ".encode() + self.data + b"\n\n"


class EventStream:
    """Keeps events and wakes those who wait for them. Any thread may publish."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_MAX_KEPT)
        self._number = 0
        self._lock = Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self.is_closed = False

    def publish(self, kind: str, data: object) -> None:
        """Publish an event."""
        with self._lock:
            self._number += 1
            now = time.monotonic()
            self._events.append(Event(self._number, now, kind, msgspec.json.encode(data)))
            while self._events[0].at < now - KEPT_SECONDS:
                self._events.popleft()
        self._wake()

    def close(self) -> None:
        """End all streams."""
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        # A copy, because streams of other threads begin and end meanwhile.
        for loop, event in list(self._waiting):
            loop.call_soon_threadsafe(event.set)

    def since(self, number: int) -> list[Event] | None:
        """Return the events after a number; `None` if some of them are gone."""
        with self._lock:
            if number > self._number:  # of a server that ran before this one
                return None
            oldest = self._events[0].number if self._events else self._number + 1
            if number + 1 < oldest:
                return None
            return [event for event in self._events if event.number > number]

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._number

    async def follow(self, after: int | None) -> AsyncGenerator[bytes]:
        """Yield events as they are sent, from a number or from now on."""
        number = self.last if after is None else after
        event = asyncio.Event()
        entry = (asyncio.get_running_loop(), event)
        self._waiting.add(entry)
        try:
            yield _PING
            while not self.is_closed:
                # Cleared before looking: what is published in between sets it again. The other way
                # round, that event would wait for the next one, or for the ping.
                event.clear()
                events = self.since(number)
                if events is None:
                    number = self.last
                    yield f"id: {number}\nevent: reset\ndata: {{}}\n\n".encode()
                    continue
                for found in events:
                    number = found.number
                    yield found.encode()
                try:
                    await asyncio.wait_for(event.wait(), _PING_SECONDS)
                except TimeoutError:
                    yield _PING
        finally:
            self._waiting.discard(entry)


def events_route(stream: EventStream) -> Route:
    """Return the route of the stream."""

    async def events(request: Request) -> Response:
        try:
            check_role(request, "read")
            after = _last_event_id(request)
        except RequestError as error:
            return problem_response(error)
        return StreamingResponse(stream.follow(after), media_type="text/event-stream")

    return Route("/api/events", events, name="events")


def _last_event_id(request: Request) -> int | None:
    """The event to go on after: what the browser remembers, else what the address says."""
    unknown = [name for name in request.query_params if name != "after"]
    if unknown:
        raise RequestError(400, f"unknown parameter {unknown[0]!r}", hint="parameters: after")
    text = request.headers.get("last-event-id") or request.query_params.get("after")
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise RequestError(400, f"invalid event id {text!r}, expected a number")
    return int(text)
