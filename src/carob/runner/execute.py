"""Score all batches of a run, in this process or in several, and merge their results.

The result does not depend on the number of processes or on the order in which batches finish: a
batch is scored on its own, and everything is sorted when batches are merged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from carob.processes import NoWorkersError
from carob.runner.checkpoint import Checkpoint
from carob.runner.job import Batch, ScoringJob
from carob.runner.judging import JudgeScorer
from carob.runner.merge import BatchMerger, FinishedBatch, MergedResults
from carob.runner.workers import score_in_processes
from carob.schema import CaseCounts, JudgeUsage, Problem
from carob.schema.problem import ProblemListener, ProgressListener, ignore


def execute(
    job: ScoringJob,
    batches: Sequence[Batch],
    *,
    jobs: int,
    progress: ProgressListener,
    counts: Callable[[CaseCounts], None] = ignore,
    checkpoint: Checkpoint | None = None,
    patience: float = 0.0,
    report: ProblemListener = ignore,
) -> MergedResults:
    """Score the batches that no earlier attempt finished, and merge all results. Worker processes
    start only if there is work left after `patience` seconds of CPU time. If they cannot start,
    this process does the work, and `report` receives a note. `counts` receives how all finished
    pairs came out, before `progress` says that there are more of them."""
    merger = BatchMerger(job)
    done: set[int] = set()
    for number, batch in checkpoint.finished() if checkpoint else ():
        merger.add(number, batch)
        done.add(number)
    counts(merger.counts())
    left = [number for number in range(len(batches)) if number not in done]

    def finished(number: int, batch: FinishedBatch) -> None:
        if checkpoint:
            checkpoint.append(number, batch)
        merger.add(number, batch)
        done.add(number)
        counts(merger.counts())

    if job.plan.waits:
        with JudgeScorer(job) as scorer:
            waiting = ((number, batches[number]) for number in left)
            scorer.score_batches(waiting, finished, progress)
            return merger.finish(scorer.score)
    progress(len(done), len(batches))
    for number, batch in _score_batches(job, batches, left, min(jobs, len(left)), patience, report):
        finished(number, batch)
        progress(len(done), len(batches))
    return merger.finish(job.score)


def estimate_usage(job: ScoringJob, batches: Sequence[Batch]) -> dict[str, JudgeUsage]:
    """Score with estimating judges, and without keeping anything."""
    with JudgeScorer(job) as scorer:
        merger = BatchMerger(job)
        for number, batch in enumerate(batches):
            merger.add(number, scorer.score(batch))
        return merger.finish(scorer.score).usage


def _score_batches(
    job: ScoringJob,
    batches: Sequence[Batch],
    numbers: Sequence[int],
    jobs: int,
    patience: float,
    report: ProblemListener,
) -> Iterator[tuple[int, FinishedBatch]]:
    # CPU time: by the clock, a small run on a busy machine would start workers because it waits.
    left, end = list(reversed(numbers)), time.process_time() + patience
    while left and (jobs <= 1 or time.process_time() < end):
        number = left.pop()
        yield number, job.score(batches[number])
    waiting = dict.fromkeys(reversed(left))
    try:
        if waiting:
            for number, batch in score_in_processes(job, batches, [*waiting], jobs):
                del waiting[number]  # what is left here is scored again if the workers end early
                yield number, batch
    except NoWorkersError as error:
        message = f"scoring in one process: {error}"
        report(Problem(where="--jobs", message=message, severity="note"))
        for number in waiting:
            yield number, job.score(batches[number])
