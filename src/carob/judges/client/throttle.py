"""How many calls are under way: as many as the user allows, fewer while the provider says no."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from carob.judges.model import Allowance

_PAUSE = 300.0
"""Seconds that all wait at the most, whatever a header says."""


class Throttle:
    """Half as many after a refusal, one more after each round that went well."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(most)
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume = 0.0
        self._halved = 0.0

    @property
    def limit(self) -> int:
        """Calls at the same time, for now."""
        return int(self._limit)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """A place among those who call, first come, first served."""
        await self._enter()
        try:
            while (pause := self._resume - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            yield
        finally:
            self._running -= 1
            self._wake()

    def went_well(self, allowance: Allowance | None) -> None:
        """A reply came, and with it perhaps what is left until there is more."""
        self._limit = min(self._most, self._limit + 1 / max(self._limit, 1.0))
        if allowance is not None:
            self._heed(allowance)
        self._wake()

    def refused(self, retry_after: float | None) -> None:
        """The provider wants less. Of many refusals at the same time only the first halves: they
        answer calls that were sent together."""
        now = time.monotonic()
        if now >= self._halved:
            self._limit = max(1.0, self._limit / 2)
            self._halved = now + max(retry_after or 0.0, 1.0)
        if retry_after:
            self._pause(retry_after)

    def _heed(self, allowance: Allowance) -> None:
        if allowance.requests is not None:
            self._limit = max(1.0, min(self._limit, allowance.requests))
        if 0 in (allowance.requests, allowance.tokens) and allowance.reset:
            self._pause(allowance.reset)

    def _pause(self, seconds: float) -> None:
        self._resume = max(self._resume, time.monotonic() + min(seconds, _PAUSE))

    async def _enter(self) -> None:
        if self._running < self.limit and not self._waiting:
            self._running += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # was let in and left in the same moment
                self._running -= 1
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self._running < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self._running += 1
                place.set_result(None)
