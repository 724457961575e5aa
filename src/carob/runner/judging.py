"""Asking judges: as many pairs at the same time as keep them busy, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from carob.metrics import together
from carob.runner.done import Done
from carob.runner.pairing import Pair
from carob.runner.plan import Judged
from carob.runner.work import Batch, Work, batch_done
from carob.schema import Spending
from carob.schema.listeners import Progress, nobody

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

_AHEAD = 1024
"""Pairs in the making: enough for any number of calls at the same time."""


class Judging:
    """Scores with judges, who stay connected until it is left. A batch begins before the one before
    it is over, so that nobody waits for the slowest answer of a batch."""

    def __init__(self, work: Work) -> None:
        import asyncio  # takes longer than a small run without judges

        self._work = work
        self._runner = asyncio.Runner()

    def __enter__(self) -> Judging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._runner:
            self._runner.run(self._work.plan.close())

    def score(self, batch: Batch) -> Done:
        """What one batch gives."""
        found: list[Done] = []
        self.carry_out([(0, batch)], lambda _number, done: found.append(done))
        return found[0]

    def carry_out(
        self,
        todo: Sequence[tuple[int, Batch]],
        finished: Callable[[int, Done], None],
        progress: Progress = nobody,
    ) -> None:
        """Score batches and hand over each when it is finished. Progress is told in pairs, of which
        more may come to light."""
        self._runner.run(self._carry_out(todo, finished, progress))

    async def _carry_out(
        self,
        todo: Sequence[tuple[int, Batch]],
        finished: Callable[[int, Done], None],
        progress: Progress,
    ) -> None:
        import asyncio

        room = asyncio.Semaphore(_AHEAD)
        begun = ended = 0

        async def judged(pair: Pair) -> Judged:
            nonlocal ended
            try:
                return await self._work.plan.judge(pair)
            finally:
                room.release()
                ended += 1
                progress(ended, begun)

        async with asyncio.TaskGroup() as group:
            for number, batch in todo:
                tasks: list[asyncio.Task[Judged]] = []
                unmatched: list[Pair] = []
                for pair in self._work.matched(batch, unmatched):
                    await room.acquire()
                    begun += 1
                    tasks.append(group.create_task(judged(pair)))
                    await asyncio.sleep(0)  # the first are asked while the last are made
                group.create_task(_handed_over(number, tasks, unmatched, finished))


async def _handed_over(
    number: int,
    tasks: Sequence[asyncio.Task[Judged]],
    unmatched: Sequence[Pair],
    finished: Callable[[int, Done], None],
) -> None:
    made = [await task for task in tasks]
    done = batch_done([one.result for one in made], unmatched)
    finished(number, structs.replace(done, spending=total(one.spending for one in made)))


def total(parts: Iterable[Mapping[str, Spending]]) -> dict[str, Spending]:
    """What was asked in all parts, by metric."""
    made: dict[str, Spending] = {}
    for part in parts:
        for name, spent in part.items():
            made[name] = together(made.get(name, Spending()), spent)
    return made
