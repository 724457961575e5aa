"""Carrying out a plan: batch by batch, on all cores, with a journal to go on from.

The result does not depend on how many cores there are or in which order batches finish: a batch
gives what it gives, and everything is put in order at the end.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from carob.runner.done import Done
from carob.runner.journal import Journal
from carob.runner.judging import Judging, total
from carob.runner.pairing import pair_rest
from carob.runner.work import Batch, Work
from carob.schema import Case, CaseResult
from carob.schema.listeners import Progress

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

# Process pools take longer to import than a small run takes to score: they are imported where they
# are used.


def execute(
    work: Work,
    batches: Sequence[Batch],
    *,
    jobs: int,
    journal: Journal,
    progress: Progress,
    patience: float = 0.0,
) -> Done:
    """Score all batches that the journal does not have yet, and put everything together. Only what
    is not scored after so many seconds of work is handed to other processes."""
    done = dict(journal.finished())
    todo = [(number, batch) for number, batch in enumerate(batches) if number not in done]

    def finished(number: int, one: Done) -> None:
        journal.append(number, one)
        done[number] = one

    if work.plan.judged:
        with Judging(work) as judging:
            judging.carry_out(todo, finished, progress)
            return _together(work, judging.score, [done[number] for number in sorted(done)])
    progress(len(done), len(batches))
    for number, one in _carried_out(work, todo, min(jobs, len(todo)), patience):
        finished(number, one)
        progress(len(done), len(batches))
    return _together(work, work.score, [done[number] for number in sorted(done)])


def count(work: Work, batches: Sequence[Batch]) -> Done:
    """What the plan comes to, with nothing written down."""
    with Judging(work) as judging:
        return _together(work, judging.score, [judging.score(batch) for batch in batches])


def _carried_out(
    work: Work,
    todo: Sequence[tuple[int, Batch]],
    jobs: int,
    patience: float,
) -> Iterator[tuple[int, Done]]:
    left, end = list(reversed(todo)), time.process_time() + patience
    while left and (jobs <= 1 or time.process_time() < end):
        number, batch = left.pop()
        yield number, work.score(batch)
    if left:
        yield from _in_processes(work, left[::-1], jobs)


def _in_processes(
    work: Work, todo: Sequence[tuple[int, Batch]], jobs: int
) -> Iterator[tuple[int, Done]]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    can_fork = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if can_fork else "spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(work,)) as pool:
        try:
            yield from _as_completed(pool, todo, ahead=2 * jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _as_completed(
    pool: ProcessPoolExecutor, todo: Sequence[tuple[int, Batch]], ahead: int
) -> Iterator[tuple[int, Done]]:
    """Results as they come, with no more batches handed out than are needed to keep all busy."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = list(reversed(todo))
    running: dict[Future[Done], int] = {}
    while waiting or running:
        while waiting and len(running) < ahead:
            number, batch = waiting.pop()
            running[pool.submit(_score, batch)] = number
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            yield running.pop(future), future.result()


_WORK: list[Work] = []


def _begin(work: Work) -> None:
    """Called once in each process, so that the plan and the cases are sent only once. Ctrl-C is
    for the process that hands out the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _WORK[:] = [work]


def _score(batch: Batch) -> Done:
    return _WORK[0].score(batch)


def _together(work: Work, score: Callable[[Batch], Done], parts: Sequence[Done]) -> Done:
    results = [result for part in parts for result in part.results]
    unmatched = [item for part in parts for item in part.unmatched]
    lone = next((part.lone for part in parts if part.lone), None)
    cases = work.cases or ()
    last = pair_rest(cases, lone) if lone and len(unmatched) == 1 and not results else None
    if last:
        made = score(lambda: [last])
        results, unmatched, parts = [*made.results], [], [made]
    results += _left_over(cases, results)
    places = {case.id: place for place, case in enumerate(cases)}
    results.sort(key=lambda one: (places.get(one.case or "", 0), one.trace or ""))
    unmatched.sort(key=lambda item: item.trace)
    return Done(
        results=tuple(results),
        unmatched=tuple(unmatched),
        spending=total(part.spending for part in parts),
    )


def _left_over(cases: Sequence[Case], results: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """Cases that no trace belongs to are not passed, and not passed over."""
    covered = {result.case for result in results}
    return (
        CaseResult(case=case.id, trace=None, status="unscored", paired_by="no trace belongs to it")
        for case in cases
        if case.id not in covered
    )
