"""The budget of a run: limits on calls and cost, and the price of a call.

The largest possible cost is reserved before a call and settled after it. Otherwise concurrent calls
that each fit into the budget could exceed it together.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, NoReturn, Protocol

from carob.errors import UsageError
from carob.judges.model import JudgeRequest
from carob.metrics.usage.cost import call_price
from carob.schema.judge import CallLimits, CallPermit

_SELF_HOSTED = ("local", "ollama", "vllm")
"""Providers whose calls are not billed."""
_PRICE_PROVIDERS = {"bedrock": "aws"}
_TOKENS_PER_MESSAGE = 16
_POLL = (0.05, 0.2)
"""Seconds until another process may have finished a call."""


class BudgetExceededError(Exception):
    """The budget does not allow another call."""


@dataclass
class CallCost:
    """The actual cost of one call; `None` while it is unknown."""

    cost: float | None = None


class CallKind(NamedTuple):
    """Which model a call asks, and the limits of such calls."""

    model: str
    concurrency: int
    deadline: float


class SharedSpending(Protocol):
    """What all processes of a run have spent together."""

    def reserve(self, model: str, amount: float, limits: CallLimits) -> CallPermit:
        """Reserve the largest possible cost of a call, or say why not."""
        ...

    def settle(self, ticket: str, cost: float) -> None:
        """Replace a reservation by the actual cost."""
        ...

    def pause(self, model: str, seconds: float) -> None:
        """Let no process call a model for some time."""
        ...


class Budget:
    """Limits the calls and the cost of a whole run."""

    shared: SharedSpending | None = None
    """Set if several processes make the run: the limits hold for all of them together."""

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
    async def reserve(
        self, at_most: float | None, call: CallKind | None = None
    ) -> AsyncGenerator[CallCost]:
        """Reserve the largest possible cost of one call while it runs. Raises
        `BudgetExceededError` if the budget does not allow it."""
        reserved, call_cost = at_most or 0.0, CallCost()
        if self.shared and call:
            ticket = await self._reserve_shared(self.shared, reserved, call)
            try:
                yield call_cost
            finally:
                self.shared.settle(ticket, _cost_of(call_cost, reserved))
            return
        await self._reserve(reserved)
        try:
            yield call_cost
        finally:
            self._cost += _cost_of(call_cost, reserved)
            self._reserved -= reserved
            async with self._settled:
                self._settled.notify_all()

    def pause(self, model: str, seconds: float | None) -> None:
        """Tell the other processes of the run that a provider asked to wait."""
        if self.shared and seconds:
            self.shared.pause(model, seconds)

    async def _reserve_shared(self, shared: SharedSpending, amount: float, call: CallKind) -> str:
        limits = CallLimits(self._max_calls, self._max_cost, call.concurrency, 2 * call.deadline)
        while True:
            permit = shared.reserve(call.model, amount, limits)
            if permit.ticket:
                return permit.ticket
            if permit.refused:
                self._stop(self._why(permit.refused))
            await asyncio.sleep(random.uniform(*_POLL))  # noqa: S311 - not a secret

    async def _reserve(self, amount: float) -> None:
        async with self._settled:
            while self._exceeds(amount):
                # Calls in progress may turn out cheaper than reserved, so wait for them first.
                if not self._reserved:
                    self._stop(self._why("cost"))
                await self._settled.wait()
            if self._max_calls is not None and self._calls >= self._max_calls:
                self._stop(self._why("calls"))
            self._calls += 1
            self._reserved += amount

    def _exceeds(self, amount: float) -> bool:
        if self._max_cost is None:
            return False
        return self._cost + self._reserved + amount > self._max_cost

    def _why(self, limit: Literal["calls", "cost"]) -> str:
        if limit == "cost":
            return f"the limit of ${self._max_cost:,.2f} would be exceeded"
        return f"the limit of {self._max_calls:,} calls was reached"

    def _stop(self, reason: str) -> NoReturn:
        self.stopped = self.stopped or reason
        raise BudgetExceededError(reason)


def _cost_of(call_cost: CallCost, reserved: float) -> float:
    # A call with an unknown outcome may have been billed in full.
    return reserved if call_cost.cost is None else call_cost.cost


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
