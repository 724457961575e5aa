"""One call that is made again while it is worth it: in turn, in time, and within the budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from carob.judges.client.budget import Bill, Budget
from carob.judges.client.price import at_most, cost
from carob.judges.client.throttle import Throttle
from carob.judges.model import Model, RefusedError, Reply, Request

ATTEMPTS = 5
PATIENCE = 300.0
"""Seconds that one question waits for a provider that wants less."""
_FIRST = 0.5
_LONGEST = 20.0


class Caller:
    """Calls a model. A trouble that may pass is tried again, later each time and never all at
    once; one that will not is told at once, and a key that was refused is not shown again."""

    def __init__(self, model: Model, budget: Budget, *, concurrency: int, deadline: float) -> None:
        self._model = model
        self._budget = budget
        self._throttle = Throttle(min(concurrency, model.at_once or concurrency))
        self._deadline = deadline
        self._denied: RefusedError | None = None
        self.words = model.words

    async def call(self, request: Request, count: Callable[[], None]) -> tuple[Reply, float | None]:
        """The reply and what it cost. `count` is told of each call that is made."""
        tries, waited = 0, 0.0
        while True:
            try:
                return await self._once(request, count)
            except RefusedError as error:
                tries += 1
                waiting = _waiting(error, tries)
                waited += waiting
                if not self._worth_it(error, tries, waited):
                    raise _given_up(error, tries, waited) from None
            await asyncio.sleep(waiting)

    async def close(self) -> None:
        await self._model.close()

    async def _once(
        self, request: Request, count: Callable[[], None]
    ) -> tuple[Reply, float | None]:
        limit = at_most(self._model.name, request)
        async with self._throttle.turn():
            if self._denied:
                raise self._denied
            async with self._budget.call(limit) as bill:
                count()
                reply = await self._in_time(request, bill)
                bill.cost = cost(self._model.name, reply.input_tokens, reply.output_tokens)
        self._throttle.went_well(reply.allowance)
        return reply, bill.cost

    async def _in_time(self, request: Request, bill: Bill) -> Reply:
        try:
            async with asyncio.timeout(self._deadline):
                return await self._model.reply(request)
        except TimeoutError:
            message = f"{self._model.name} did not answer within {self._deadline:g} s"
            raise RefusedError("timeout", message) from None
        except RefusedError as error:
            self._learn(error)
            if error.trouble not in ("disconnected", "malformed", "timeout"):
                bill.cost = 0.0
            raise

    def _learn(self, error: RefusedError) -> None:
        if error.trouble in ("rate_limit", "overloaded"):
            self._throttle.refused(error.retry_after)
        if error.trouble == "denied":
            self._denied = error

    def _worth_it(self, error: RefusedError, tries: int, waited: float) -> bool:
        """A provider that only wants us to wait is waited for; what breaks is tried a few times."""
        if error.trouble == "rate_limit":
            return waited <= PATIENCE
        return error.passing and tries < ATTEMPTS


def _waiting(error: RefusedError, tries: int) -> float:
    """Seconds until the next try: as long as the provider says, and a random part more, so that
    those who were refused together do not come back together."""
    longest = min(_LONGEST, _FIRST * 2 ** (tries - 1))
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, _FIRST)  # noqa: S311 - not a secret
    return random.uniform(longest / 2, longest)  # noqa: S311 - not a secret


def _given_up(error: RefusedError, tries: int, waited: float) -> RefusedError:
    if not error.passing or error.trouble == "rate_limit":
        told = f" (would have to wait {waited:.0f} s)" if error.trouble == "rate_limit" else ""
        return RefusedError(error.trouble, f"{error}{told}")
    return RefusedError(error.trouble, f"{error} ({tries} times tried)")
