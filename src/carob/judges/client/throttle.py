"""Limit concurrent calls: the user's maximum, or fewer while the provider is overloaded."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from carob.judges.model import RateLimit

_MAX_PAUSE = 300.0
"""The longest pause in seconds, whatever a header says."""


class Throttle:
    """Halves the limit after a rejection, and raises it by one after each successful round."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._limit = float(maximum)
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._halve_again_at = 0.0

    @property
    def limit(self) -> int:
        """The current maximum of concurrent calls."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Wait for a free slot, first come, first served, and hold it."""
        await self._acquire()
        try:
            while (pause := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            yield
        finally:
            self._running -= 1
            self._wake()

    def on_success(self, rate_limit: RateLimit | None) -> None:
        """Raise the limit after a reply, within the quota that the provider reports."""
        self._limit = min(self._maximum, self._limit + 1 / max(self._limit, 1.0))
        if rate_limit is not None:
            self._apply(rate_limit)
        self._wake()

    def on_rejection(self, retry_after: float | None) -> None:
        """Lower the limit after a rate limit or overload error."""
        # Calls that were sent together are rejected together. Only the first rejection halves the
        # limit; otherwise 16 of them would reduce it to 1 at once.
        now = time.monotonic()
        if now >= self._halve_again_at:
            self._limit = max(1.0, self._limit / 2)
            self._halve_again_at = now + max(retry_after or 0.0, 1.0)
        if retry_after:
            self._pause(retry_after)

    def _apply(self, rate_limit: RateLimit) -> None:
        if rate_limit.requests is not None:
            self._limit = max(1.0, min(self._limit, rate_limit.requests))
        if 0 in (rate_limit.requests, rate_limit.tokens) and rate_limit.reset:
            self._pause(rate_limit.reset)

    def _pause(self, seconds: float) -> None:
        self._resume_at = max(self._resume_at, time.monotonic() + min(seconds, _MAX_PAUSE))

    async def _acquire(self) -> None:
        if self._running < self.limit and not self._waiting:
            self._running += 1
            return
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            # Cancelled after `_wake` granted the slot but before this task ran again: without
            # handing it on, the slot would be lost for good.
            if slot.done() and not slot.cancelled():
                self._running -= 1
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self._running < self.limit:
            slot = self._waiting.popleft()
            if not slot.done():
                self._running += 1
                slot.set_result(None)
