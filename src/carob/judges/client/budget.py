"""The budget of a run: limits on calls and cost, and the price of a call.

The largest possible cost is reserved before a call and settled after it. Otherwise concurrent calls
that each fit into the budget could exceed it together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache

from carob.errors import UsageError
from carob.judges.model import JudgeRequest
from carob.metrics.usage.cost import call_price

_SELF_HOSTED = ("local", "ollama", "vllm")
"""Providers whose calls are not billed."""
_PRICE_PROVIDERS = {"bedrock": "aws"}
_TOKENS_PER_MESSAGE = 16


class BudgetExceededError(Exception):
    """The budget does not allow another call."""


@dataclass
class CallCost:
    """The actual cost of one call; `None` while it is unknown."""

    cost: float | None = None


class Budget:
    """Limits the calls and the cost of a whole run."""

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._calls = 0
        self._cost = 0.0
        self._reserved = 0.0
        self._settled = asyncio.Condition()
        self.stopped: str | None = None
        """Why no more questions are asked."""

    def check_price(self, model: str, price: float | None) -> None:
        """Raise `UsageError` if the cost is limited but the price of the model is unknown."""
        if self._max_cost is not None and price is None:
            hint = "limit the calls with --max-calls, or install 'carob[judge]' for prices"
            message = "the cost cannot be limited: the price of the model is unknown"
            raise UsageError(message, where=model, hint=hint)

    @asynccontextmanager
    async def reserve(self, at_most: float | None) -> AsyncGenerator[CallCost]:
        """Reserve the largest possible cost of one call while it runs. Raises
        `BudgetExceededError` if the budget does not allow it."""
        reserved = at_most or 0.0
        await self._reserve(reserved)
        call_cost = CallCost()
        try:
            yield call_cost
        finally:
            # A call with an unknown outcome may have been billed in full.
            self._cost += reserved if call_cost.cost is None else call_cost.cost
            self._reserved -= reserved
            async with self._settled:
                self._settled.notify_all()

    async def _reserve(self, amount: float) -> None:
        async with self._settled:
            while self._exceeds(amount):
                # Calls in progress may turn out cheaper than reserved, so wait for them first.
                if not self._reserved:
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

    def _stop(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        raise BudgetExceededError(reason)


@lru_cache(maxsize=4096)
def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the cost in US dollars, or `None` if the price of `PROVIDER:MODEL` is unknown."""
    provider, _, name = model.partition(":")
    if provider in _SELF_HOSTED:
        return 0.0
    try:
        return call_price(
            name,
            _PRICE_PROVIDERS.get(provider, provider),
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )
    except (ImportError, LookupError):
        return None


def max_cost(model: str, request: JudgeRequest) -> float | None:
    """Return the largest possible cost of a request in US dollars, with the longest answer."""
    return cost(model, estimate_tokens(request), request.max_tokens)


def estimate_tokens(request: JudgeRequest) -> int:
    """Estimate the input tokens of a request, rather too many than too few."""
    texts = [*(message.text for message in request.messages), str(request.schema)]
    return sum(_text_tokens(text) + _TOKENS_PER_MESSAGE for text in texts)


def _text_tokens(text: str) -> int:
    # A token is about four letters of English and three of other languages in ASCII. Elsewhere it
    # may be less than one character.
    ascii_length = len(text.encode("ascii", "ignore"))
    return -(-ascii_length // 3) + 2 * (len(text) - ascii_length)
