"""Worker processes: how many are useful, and how batches are sent to them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from carob.processes import WorkerPool
from carob.runner.job import Batch, ScoringJob

if TYPE_CHECKING:
    from concurrent.futures import Future


def cpu_count() -> int:
    """Return the number of CPUs that this process may use, which can be fewer than exist."""
    affinity = getattr(os, "sched_getaffinity", None)  # missing on macOS and Windows
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def score_in_processes(
    job: ScoringJob, batches: Sequence[Batch], numbers: Sequence[int], jobs: int
) -> Iterator[tuple[int, bytes]]:
    """Score some of the batches in worker processes and yield each result, as JSON, when it is
    ready. Raises `NoWorkersError` if processes cannot be used; batches without a result are not
    scored then."""
    with WorkerPool(jobs, _start, job) as pool:
        yield from _as_completed(pool, batches, numbers, ahead=2 * jobs)


def _as_completed(
    pool: WorkerPool, batches: Sequence[Batch], numbers: Sequence[int], ahead: int
) -> Iterator[tuple[int, bytes]]:
    """Yield results as they complete. Only a few batches are submitted ahead, so that results do
    not pile up in memory while the consumer saves them."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = list(reversed(numbers))
    running: dict[Future[bytes], int] = {}
    while waiting or running:
        while waiting and len(running) < ahead:
            number = waiting.pop()
            running[pool.submit(_score, batches[number])] = number
        completed, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in completed:
            yield running.pop(future), pool.result(future)


_JOB: list[ScoringJob] = []


def _start(job: ScoringJob) -> None:
    """Prepare a worker: the plan and the cases are sent once per process, not once per batch.
    Ctrl-C is handled by the parent process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _JOB[:] = [job]


def _score(batch: Batch) -> bytes:
    """Score a batch. The result is encoded here: the process that merges it need not decode it."""
    return msgspec.json.encode(_JOB[0].score(batch))
