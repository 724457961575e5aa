"""Asking judges: as many pairs at the same time as keep them busy, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from karat.metrics import together
from karat.runner.pairing import Pair
from karat.runner.plan import Judged, Plan
from karat.schema import Spending

_AHEAD = 1024
"""Pairs in the making: enough for any number of calls at the same time."""


async def judge_all(plan: Plan, pairs: Iterable[Pair]) -> list[Judged]:
    """What came of each pair, in their order."""
    import asyncio  # takes longer than a small run without judges

    room = asyncio.Semaphore(_AHEAD)

    async def one(pair: Pair) -> Judged:
        try:
            return await plan.judge(pair)
        finally:
            room.release()

    tasks: list[asyncio.Task[Judged]] = []
    async with asyncio.TaskGroup() as group:
        for pair in pairs:
            await room.acquire()
            tasks.append(group.create_task(one(pair)))
    return [task.result() for task in tasks]


def total(parts: Iterable[Mapping[str, Spending]]) -> dict[str, Spending]:
    """What was asked in all parts, by metric."""
    made: dict[str, Spending] = {}
    for part in parts:
        for name, spent in part.items():
            made[name] = together(made.get(name, Spending()), spent)
    return made
