"""Hold many conversations at once, within limits, and hand over each when it is finished.

No turn is ever sent twice into the same session. A conversation that broke off is held again only
from its first turn, in a new session, and only if the agent received nothing or its tools may run
twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

from carob.judges.client.throttle import Throttle
from carob.metrics.needs import has_usage
from carob.metrics.usage.cost import Cost
from carob.schema import Case, Score, Trace
from carob.targets.conversation import (
    RecordedAttempt,
    ScriptedUser,
    TimeLimits,
    User,
    hold_conversation,
)
from carob.targets.mocks import ToolMocks
from carob.targets.spans import SpanJoiner
from carob.targets.target import Attempt, Target, TargetError

MAX_RETRIES = 3
_FIRST_DELAY = 0.5
_MAX_DELAY = 20.0


@dataclass(frozen=True, kw_only=True)
class PlannedAttempt:
    """An attempt that is to be made."""

    number: int
    """The position in the run."""
    case: Case
    attempt: Attempt
    user: Callable[[], User] | None = None
    """Makes the simulated user; without one, the golden messages are said."""
    mocks: Callable[[], ToolMocks] | None = None
    """Makes the tool mocks, which remember what was used."""


@dataclass(frozen=True, kw_only=True)
class LiveLimits:
    """When a live run stops, and how it treats what breaks off."""

    times: TimeLimits
    concurrency: int = 8
    retry: bool = False
    """Whether tools may run twice."""
    max_time: float | None = None
    """Seconds for all conversations."""
    max_cost: float | None = None
    """US dollars."""


Finished = Callable[[PlannedAttempt, Trace], Awaitable[None]]
"""Receives each finished attempt. It counts as finished when this returns."""


@dataclass(kw_only=True)
class LiveRecorder:
    """Records attempts with one target."""

    target: Target
    limits: LiveLimits
    finished: Finished
    joiner: SpanJoiner | None = None
    """Joins the spans of the agent, if somebody collects them."""
    spent: Callable[[], float] = lambda: 0.0
    """Returns what the simulated user cost so far."""
    cost: float = 0.0
    """What the agent cost so far, as far as prices are known."""
    unpriced: str | None = None
    """Why the cost of a conversation is unknown."""
    stopped: str | None = None
    """Why not all attempts were made."""

    @property
    def known_cost(self) -> float | None:
        """What the agent and the simulated user cost so far; `None` if a price is unknown."""
        return None if self.unpriced else self.cost + self.spent()

    async def record(self, attempts: Iterable[PlannedAttempt]) -> None:
        """Make all attempts, several at once. One that breaks off never stops the others."""
        throttle = Throttle(self.limits.concurrency)
        slots = asyncio.Semaphore(2 * self.limits.concurrency)
        try:
            async with asyncio.timeout(self.limits.max_time), asyncio.TaskGroup() as group:
                for planned in attempts:
                    await slots.acquire()  # few tasks wait at a time, so that memory stays flat
                    if self._must_stop():
                        break
                    task = group.create_task(self._record(planned, throttle))
                    task.add_done_callback(lambda _: slots.release())
        except TimeoutError:
            self.stopped = f"the time limit of {self.limits.max_time:g} s was reached"
        except BaseExceptionGroup as group_error:  # a listener raised: the caller gave up
            raise _first(group_error) from None
        finally:
            await self.target.close()

    async def _record(self, planned: PlannedAttempt, throttle: Throttle) -> None:
        async with throttle.slot():
            if self._must_stop():
                return
            recorded = await self._try(planned, throttle)
        trace = recorded.trace
        if self.joiner:
            trace = await self.joiner.join(trace, recorded.trace_ids)
        self._add_cost(trace)
        await self.finished(planned, trace)

    async def _try(self, planned: PlannedAttempt, throttle: Throttle) -> RecordedAttempt:
        """Hold the conversation, again if that is safe."""
        attempt = planned.attempt
        while True:
            recorded = await self._hold(planned, attempt)
            error = recorded.error
            if error is None:
                throttle.on_success(None)
                return recorded
            if error.kind == "rate_limit":
                throttle.on_rejection(error.retry_after)
            if not self._may_retry(recorded, error, planned, attempt):
                return recorded
            await asyncio.sleep(_delay(error, attempt.retry))
            attempt = replace(attempt, retry=attempt.retry + 1)

    async def _hold(self, planned: PlannedAttempt, attempt: Attempt) -> RecordedAttempt:
        try:
            user = planned.user() if planned.user else ScriptedUser(planned.case)
        except TargetError as error:
            user = _NoUser(error)
        if planned.mocks:
            attempt = replace(attempt, mocks=planned.mocks())
        return await hold_conversation(self.target, planned.case, attempt, user, self.limits.times)

    def _may_retry(
        self,
        recorded: RecordedAttempt,
        error: TargetError,
        planned: PlannedAttempt,
        attempt: Attempt,
    ) -> bool:
        if not error.transient or attempt.retry >= MAX_RETRIES:
            return False
        mocked = planned.mocks is not None and planned.mocks().on_miss != "live"
        return recorded.untouched or self.limits.retry or mocked

    def _add_cost(self, trace: Trace) -> None:
        if not any(has_usage(call.usage) for call in trace.model_calls):
            self.unpriced = self.unpriced or "the agent shows no token usage"
            return
        try:
            price = Cost().score(Case(id=trace.id), trace)
        except ImportError:
            self.unpriced = "the package 'genai-prices' is not installed"
            return
        except Exception as error:  # noqa: BLE001 - an agent may state any model and any tokens
            self.unpriced = f"{type(error).__name__}: {error}"
            return
        if isinstance(price, Score):
            self.cost += price.value
        else:
            self.unpriced = self.unpriced or price.reason

    def _must_stop(self) -> bool:
        limit = self.limits.max_cost
        if limit is not None and self.cost + self.spent() >= limit:
            self.stopped = f"the limit of ${limit:,.2f} was reached"
        return self.stopped is not None


class _NoUser:
    """The user of a case that cannot be played."""

    end_reason: str | None = None

    def __init__(self, error: TargetError) -> None:
        self._error = error

    async def next_message(self, turns: object) -> str | None:
        raise self._error


def _delay(error: TargetError, retries: int) -> float:
    if error.retry_after is not None:
        return min(error.retry_after, 300.0)
    return min(_MAX_DELAY, _FIRST_DELAY * 2**retries)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    errors = cast("tuple[BaseException, ...]", group.exceptions)
    for error in errors:
        if isinstance(error, BaseExceptionGroup):
            return _first(cast("BaseExceptionGroup[BaseException]", error))
    return errors[0]
