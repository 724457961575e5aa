"""Score batches with judges: many pairs concurrently, with a bound on how many are in flight."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from carob.metrics import add_usage
from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.pairing import Pair
from carob.runner.plan import JudgedResult
from carob.schema import JudgeUsage
from carob.schema.problem import ProgressListener, ignore

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from types import TracebackType

BatchListener: TypeAlias = Callable[[int, BatchResult], None]
"""Receives the number and the result of each finished batch."""
_IN_FLIGHT = 1024
"""Pairs being scored: more than any useful concurrency of calls, and a bound on memory."""


class JudgeScorer:
    """Scores batches with judges. Connections stay open until the context is left."""

    def __init__(self, job: ScoringJob) -> None:
        import asyncio  # late: slower to import than a small run without judges

        self._job = job
        self._runner = asyncio.Runner()
        self._thread: ThreadPoolExecutor | None = None

    def __enter__(self) -> JudgeScorer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._call(self._close)
        if self._thread:
            self._thread.shutdown()

    def _close(self) -> None:
        with self._runner:
            self._runner.run(self._job.plan.close())

    def _run(self, coroutine: Coroutine[None, None, None]) -> None:
        self._call(lambda: self._runner.run(coroutine))

    def _call(self, function: Callable[[], None]) -> None:
        """Call a function that runs the event loop. A thread can run only one, so in a notebook,
        whose cells run in a loop, another thread calls it: always the same one, because the cache
        of answers may be used only in the thread that opened it."""
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return function()
        self._thread = self._thread or ThreadPoolExecutor(1, "carob-judges")
        try:
            self._thread.submit(function).result()
        except KeyboardInterrupt:
            self._cancel()  # the loop receives no Ctrl-C outside of the main thread
            raise

    def _cancel(self) -> None:
        import asyncio

        loop = self._runner.get_loop()

        def cancel_all() -> None:
            for task in asyncio.all_tasks(loop):
                task.cancel()

        loop.call_soon_threadsafe(cancel_all)

    def score(self, batch: Batch, progress: ProgressListener = ignore) -> BatchResult:
        """Score one batch."""
        results: list[BatchResult] = []
        self.score_batches([(0, batch)], lambda _number, result: results.append(result), progress)
        return results[0]

    def score_batches(
        self,
        batches: Iterable[tuple[int, Batch]],
        finished: BatchListener,
        progress: ProgressListener = ignore,
    ) -> None:
        """Score numbered batches and report each when it is finished. Progress counts pairs; its
        total grows while batches are read."""
        self._run(self._score_batches(batches, finished, progress))

    async def _score_batches(
        self,
        batches: Iterable[tuple[int, Batch]],
        finished: BatchListener,
        progress: ProgressListener,
    ) -> None:
        import asyncio

        slots = asyncio.Semaphore(_IN_FLIGHT)
        started = ended = 0

        async def score_pair(pair: Pair) -> JudgedResult:
            nonlocal ended
            try:
                judged = await self._job.plan.score_with_judges(pair)
                return judged._replace(result=self._job.add_digest(judged.result, pair.case))
            finally:
                slots.release()
                ended += 1
                progress(ended, started)

        # The next batch starts before this one is finished. Otherwise every batch would wait for
        # its slowest answer, with all other connections idle.
        async with asyncio.TaskGroup() as group:
            for number, batch in batches:
                tasks: list[asyncio.Task[JudgedResult]] = []
                unmatched: list[Pair] = []
                for pair in self._job.matched(batch, unmatched):
                    await slots.acquire()
                    started += 1
                    tasks.append(group.create_task(score_pair(pair)))
                    await asyncio.sleep(0)  # lets the first calls start while later pairs are read
                group.create_task(self._finish_batch(number, tasks, unmatched, finished))

    async def _finish_batch(
        self,
        number: int,
        tasks: Sequence[asyncio.Task[JudgedResult]],
        unmatched: Sequence[Pair],
        finished: BatchListener,
    ) -> None:
        scored = [await task for task in tasks]
        usage = total_usage(judged.usage for judged in scored)
        results = [judged.result for judged in scored]
        finished(number, self._job.batch_result(results, unmatched, usage))


def total_usage(parts: Iterable[Mapping[str, JudgeUsage]]) -> dict[str, JudgeUsage]:
    """Add up judge usage by metric."""
    total: dict[str, JudgeUsage] = {}
    for part in parts:
        for metric, usage in part.items():
            total[metric] = add_usage(total.get(metric, JudgeUsage()), usage)
    return total
