"""Score all batches of a run, in this process or in several, and merge their results.

The result does not depend on the number of processes or on the order in which batches finish: a
batch is scored on its own, and everything is sorted when batches are merged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from carob.processes import NoWorkersError
from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.journal import Journal
from carob.runner.judging import JudgeScorer, total_usage
from carob.runner.pairing import pair_only_case
from carob.runner.workers import score_in_processes
from carob.schema import Case, CaseResult, Problem
from carob.schema.problem import ProblemListener, ProgressListener, ignore

NO_TRACE = "no trace belongs to it"
"""Why a case without a trace is unscored."""


def execute(
    job: ScoringJob,
    batches: Sequence[Batch],
    *,
    jobs: int,
    journal: Journal,
    progress: ProgressListener,
    patience: float = 0.0,
    report: ProblemListener = ignore,
) -> BatchResult:
    """Score the batches that are not in the journal yet, and merge all results. Worker processes
    start only if there is work left after `patience` seconds of CPU time. If they cannot start,
    this process does the work, and `report` receives a note."""
    results = dict(journal.finished())
    left = [(number, batch) for number, batch in enumerate(batches) if number not in results]

    def finished(number: int, result: BatchResult) -> None:
        journal.append(number, result)
        results[number] = result

    if job.plan.judged:
        with JudgeScorer(job) as scorer:
            scorer.score_batches(left, finished, progress)
            return _merge(job, scorer.score, [results[number] for number in sorted(results)])
    progress(len(results), len(batches))
    for number, result in _score_batches(job, left, min(jobs, len(left)), patience, report):
        finished(number, result)
        progress(len(results), len(batches))
    return _merge(job, job.score, [results[number] for number in sorted(results)])


def estimate_usage(job: ScoringJob, batches: Sequence[Batch]) -> BatchResult:
    """Score with estimating judges, and without a journal."""
    with JudgeScorer(job) as scorer:
        return _merge(job, scorer.score, [scorer.score(batch) for batch in batches])


def _score_batches(
    job: ScoringJob,
    batches: Sequence[tuple[int, Batch]],
    jobs: int,
    patience: float,
    report: ProblemListener,
) -> Iterator[tuple[int, BatchResult]]:
    left, end = list(reversed(batches)), time.process_time() + patience
    while left and (jobs <= 1 or time.process_time() < end):
        number, batch = left.pop()
        yield number, job.score(batch)
    waiting = dict(reversed(left))
    try:
        if waiting:
            for number, result in score_in_processes(job, [*waiting.items()], jobs):
                del waiting[number]
                yield number, result
    except NoWorkersError as error:
        message = f"scoring in one process: {error}"
        report(Problem(where="--jobs", message=message, severity="note"))
        for number, batch in waiting.items():
            yield number, job.score(batch)


def _merge(
    job: ScoringJob, score: Callable[[Batch], BatchResult], batches: Sequence[BatchResult]
) -> BatchResult:
    results = [result for batch in batches for result in batch.results]
    unmatched = [trace for batch in batches for trace in batch.unmatched]
    cases = job.cases or ()
    only = next((batch.only_unmatched for batch in batches if batch.only_unmatched), None)
    is_only_trace = len(unmatched) == 1 and not results
    pair = pair_only_case(cases, only) if only and is_only_trace else None
    if pair:
        scored = score(lambda: [pair])
        results, unmatched, batches = [*scored.results], [], [scored]
    results += _cases_without_trace(job, job.scored_cases, results)
    positions = {case.id: position for position, case in enumerate(cases)}
    results.sort(key=lambda result: (positions.get(result.case or "", 0), result.trace or ""))
    unmatched.sort(key=lambda trace: trace.trace)
    return BatchResult(
        results=tuple(results),
        unmatched=tuple(unmatched),
        usage=total_usage(batch.usage for batch in batches),
    )


def _cases_without_trace(
    job: ScoringJob, cases: Sequence[Case], results: Sequence[CaseResult]
) -> Iterator[CaseResult]:
    """Yield a result without scores for each case that has no trace: it did not pass."""
    covered = {result.case for result in results}
    status = job.plan.status_without_scores
    return (
        CaseResult(case=case.id, trace=None, status=status(case), paired_by=NO_TRACE)
        for case in cases
        if case.id not in covered
    )
