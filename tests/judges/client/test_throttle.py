from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from carob.judges.client.throttle import Throttle
from carob.judges.model import RateLimit


def most_concurrent(
    throttle: Throttle, calls: int, during: Callable[[], None] = lambda: None
) -> int:
    """The highest number of calls that ran concurrently."""
    running = highest = 0

    async def call() -> None:
        nonlocal running, highest
        async with throttle.slot():
            running += 1
            highest = max(highest, running)
            during()
            await asyncio.sleep(0.001)
            running -= 1

    async def run_all() -> None:
        await asyncio.gather(*(call() for _ in range(calls)))

    asyncio.run(run_all())
    return highest


def test_throttle_starts_at_the_limit():
    assert most_concurrent(Throttle(8), 30) == 8


def test_concurrent_rejections_halve_the_limit_once():
    throttle = Throttle(64)
    for _ in range(40):
        throttle.on_rejection(None)
    assert throttle.limit == 32


def test_limit_never_falls_below_one():
    throttle = Throttle(2)
    throttle.on_rejection(None)
    assert throttle.limit == 1
    assert most_concurrent(throttle, 5) == 1


def test_round_of_successes_raises_the_limit_by_one():
    throttle = Throttle(64)
    throttle.on_rejection(None)
    for _ in range(33):
        throttle.on_success(None)
    assert throttle.limit == 33
    for _ in range(10_000):
        throttle.on_success(None)
    assert throttle.limit == 64


def test_limit_respects_the_remaining_quota():
    throttle = Throttle(64)
    throttle.on_success(RateLimit(requests=5, reset=60.0))
    assert most_concurrent(throttle, 20) == 5


def test_calls_wait_until_the_quota_resets():
    throttle = Throttle(4)
    throttle.on_success(RateLimit(requests=0, reset=0.05))
    start = time.monotonic()
    most_concurrent(throttle, 1)
    assert time.monotonic() - start >= 0.05


def test_rejection_with_retry_after_delays_all_calls():
    throttle = Throttle(4)
    throttle.on_rejection(0.05)
    start = time.monotonic()
    most_concurrent(throttle, 3)
    assert time.monotonic() - start >= 0.05


def test_cancelled_waiter_does_not_take_a_slot():
    async def run() -> int:
        throttle = Throttle(1)

        async def call(seconds: float) -> None:
            async with throttle.slot():
                await asyncio.sleep(seconds)

        first = asyncio.create_task(call(0.01))
        await asyncio.sleep(0)
        second, third = asyncio.create_task(call(1.0)), asyncio.create_task(call(0.0))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait_for(asyncio.gather(first, third), timeout=60.0)
        return throttle.limit

    assert asyncio.run(run()) == 1
