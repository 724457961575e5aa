"""Call a model with retries, within the concurrency limit, the deadline and the budget."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from carob.judges.client.budget import Budget, CallCost, CallKind, cost, max_cost
from carob.judges.client.throttle import Throttle
from carob.judges.model import JudgeModel, JudgeReply, JudgeRequest, ProviderError

MAX_ATTEMPTS = 5
MAX_WAIT = 300.0
"""Seconds that one question waits for a provider with a rate limit."""
_FIRST_DELAY = 0.5
_MAX_DELAY = 20.0


class RetryingCaller:
    """Retries transient errors with exponential backoff and jitter. Other errors are raised at
    once, and a key that was denied is not sent again."""

    def __init__(
        self, model: JudgeModel, budget: Budget, *, concurrency: int, deadline: float
    ) -> None:
        self._model = model
        self._budget = budget
        limit = min(concurrency, model.max_concurrency or concurrency)
        self._throttle = Throttle(limit)
        self._kind = CallKind(model.name, limit, deadline)
        self._deadline = deadline
        self._denied: ProviderError | None = None
        self.prefers_words = model.prefers_words

    async def call(
        self, request: JudgeRequest, on_call: Callable[[], None]
    ) -> tuple[JudgeReply, float | None]:
        """Return the reply and its cost. `on_call` is called for each attempt."""
        attempts, waited = 0, 0.0
        while True:
            try:
                return await self._attempt(request, on_call)
            except ProviderError as error:
                attempts += 1
                delay = _delay(error, attempts)
                waited += delay
                if not _should_retry(error, attempts, waited):
                    raise _final_error(error, attempts, waited) from None
            await asyncio.sleep(delay)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def _attempt(
        self, request: JudgeRequest, on_call: Callable[[], None]
    ) -> tuple[JudgeReply, float | None]:
        limit = max_cost(self._model.name, request)
        async with self._throttle.slot():
            if self._denied:
                raise self._denied
            async with self._budget.reserve(limit, self._kind) as call_cost:
                on_call()
                reply = await self._reply_in_time(request, call_cost)
                call_cost.cost = cost(self._model.name, reply.input_tokens, reply.output_tokens)
        self._throttle.on_success(reply.rate_limit)
        return reply, call_cost.cost

    async def _reply_in_time(self, request: JudgeRequest, call_cost: CallCost) -> JudgeReply:
        try:
            async with asyncio.timeout(self._deadline):
                return await self._model.reply(request)
        except TimeoutError:
            message = f"{self._model.name} did not answer within {self._deadline:g} s"
            raise ProviderError("timeout", message) from None
        except ProviderError as error:
            self._record(error)
            # A request that was refused is not billed. One that broke off may have been.
            if error.kind not in ("disconnected", "malformed", "timeout"):
                call_cost.cost = 0.0
            raise

    def _record(self, error: ProviderError) -> None:
        if error.kind in ("rate_limit", "overloaded"):
            self._throttle.on_rejection(error.retry_after)
            self._budget.pause(self._model.name, error.retry_after)
        if error.kind == "denied":
            self._denied = error


def _should_retry(error: ProviderError, attempts: int, waited: float) -> bool:
    """Rate limits are waited for; other transient errors are retried a few times."""
    if error.kind == "rate_limit":
        return waited <= MAX_WAIT
    return error.transient and attempts < MAX_ATTEMPTS


def _delay(error: ProviderError, attempts: int) -> float:
    """Return the seconds until the next attempt, with jitter, so that calls that were rejected
    together do not come back together."""
    longest = min(_MAX_DELAY, _FIRST_DELAY * 2 ** (attempts - 1))
    if error.retry_after is not None:
        return error.retry_after + random.uniform(0, _FIRST_DELAY)  # noqa: S311 - not a secret
    return random.uniform(longest / 2, longest)  # noqa: S311 - not a secret


def _final_error(error: ProviderError, attempts: int, waited: float) -> ProviderError:
    if error.kind == "rate_limit":
        return ProviderError(error.kind, f"{error} (would have to wait {waited:.0f} s)")
    if not error.transient:
        return ProviderError(error.kind, str(error))
    return ProviderError(error.kind, f"{error} (tried {attempts} times)")
