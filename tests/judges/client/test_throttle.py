from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from carob.judges.client.throttle import Throttle
from carob.judges.model import RateLimit


def most(throttle: Throttle, calls: int, during: Callable[[], None] = lambda: None) -> int:
    """How many of the calls were under way at the same time."""
    running = highest = 0

    async def call() -> None:
        nonlocal running, highest
        async with throttle.slot():
            running += 1
            highest = max(highest, running)
            during()
            await asyncio.sleep(0.001)
            running -= 1

    async def all_of_them() -> None:
        await asyncio.gather(*(call() for _ in range(calls)))

    asyncio.run(all_of_them())
    return highest


def test_as_many_as_allowed_from_the_beginning():
    assert most(Throttle(8), 30) == 8


def test_refusals_at_the_same_time_halve_once():
    throttle = Throttle(64)
    for _ in range(40):
        throttle.on_rejection(None)
    assert throttle.limit == 32


def test_it_never_falls_below_one():
    throttle = Throttle(2)
    throttle.on_rejection(None)
    assert throttle.limit == 1
    assert most(throttle, 5) == 1


def test_a_round_that_went_well_adds_one():
    throttle = Throttle(64)
    throttle.on_rejection(None)
    for _ in range(33):
        throttle.on_success(None)
    assert throttle.limit == 33
    for _ in range(10_000):
        throttle.on_success(None)
    assert throttle.limit == 64


def test_no_more_than_the_provider_says_is_left():
    throttle = Throttle(64)
    throttle.on_success(RateLimit(requests=5, reset=60.0))
    assert most(throttle, 20) == 5


def test_all_wait_until_there_is_more():
    throttle = Throttle(4)
    throttle.on_success(RateLimit(requests=0, reset=0.05))
    start = time.monotonic()
    most(throttle, 1)
    assert time.monotonic() - start >= 0.05


def test_a_refusal_that_names_a_time_holds_all_back():
    throttle = Throttle(4)
    throttle.on_rejection(0.05)
    start = time.monotonic()
    most(throttle, 3)
    assert time.monotonic() - start >= 0.05


def test_who_gives_up_waiting_takes_nobodys_place():
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
        await asyncio.wait_for(asyncio.gather(first, third), timeout=1.0)
        return throttle.limit

    assert asyncio.run(run()) == 1
