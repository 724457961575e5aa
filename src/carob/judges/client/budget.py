"""What a whole run may ask: so many calls, so many dollars, and not one more.

Room is reserved before a call and settled after it, so that calls at the same time cannot exceed
together what each of them would keep to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from carob.errors import UsageError


class SpentError(Exception):
    """There is no room for another call."""


@dataclass
class Bill:
    """What one call turned out to cost; `None` while that is not known."""

    cost: float | None = None


class Budget:
    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._calls = 0
        self._cost = 0.0
        self._reserved = 0.0
        self._settled = asyncio.Condition()
        self.stopped: str | None = None
        """Why no more is asked."""

    def check_price(self, model: str, price: float | None) -> None:
        """Fail before anything is asked if a limit could not be kept."""
        if self._max_cost is not None and price is None:
            hint = "limit the calls with --max-calls, or install 'carob[judge]' for prices"
            raise UsageError("no price is known, so no cost can be limited", where=model, hint=hint)

    @asynccontextmanager
    async def call(self, at_most: float | None) -> AsyncGenerator[Bill]:
        """One call that costs no more than that. `SpentError`, if it might cost too much."""
        reserved = at_most or 0.0
        await self._reserve(reserved)
        bill = Bill()
        try:
            yield bill
        finally:
            # A call whose end is not known may have been billed for all that it could cost.
            self._cost += reserved if bill.cost is None else bill.cost
            self._reserved -= reserved
            async with self._settled:
                self._settled.notify_all()

    async def _reserve(self, amount: float) -> None:
        async with self._settled:
            while self._exceeds(amount):
                if not self._reserved:  # nothing is under way that could turn out cheaper
                    self._stop(f"the limit of ${self._max_cost:,.2f} would be exceeded")
                await self._settled.wait()
            if self._max_calls is not None and self._calls >= self._max_calls:
                self._stop(f"the limit of {self._max_calls:,} calls was reached")
            self._calls += 1
            self._reserved += amount

    def _exceeds(self, amount: float) -> bool:
        if self._max_cost is None:
            return False
        return self._cost + self._reserved + amount > self._max_cost

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why
        raise SpentError(why)
