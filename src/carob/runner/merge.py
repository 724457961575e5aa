"""Merge the results of batches, whichever process scored them and in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import msgspec

from carob.files.spool import Spool
from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.judging import total_usage
from carob.runner.pairing import pair_only_case
from carob.runner.results import ResultKey, ResultSorter
from carob.schema import (
    Case,
    CaseCounts,
    CaseResult,
    JudgeUsage,
    Status,
    Struct,
    Trace,
    UnmatchedTrace,
)
from carob.schema.base import prepare_type
from carob.schema.codec import RESULTS
from carob.schema.status import case_counts

NO_TRACE = "no trace belongs to it"
"""Why a case without a trace is unscored."""
_LAST = 2**62
"""The batch of results that belong to no batch."""

FinishedBatch: TypeAlias = BatchResult | bytes
"""The result of a batch, from this process, or as JSON from another one or from the store."""


class MergedResults(NamedTuple):
    """The results of all batches."""

    results: Sequence[CaseResult]
    """In the order of the dataset, then of trace ids. Many results are in a file."""
    unmatched: tuple[UnmatchedTrace, ...]
    usage: dict[str, JudgeUsage]


class _RawBatch(Struct, frozen=True):
    """A batch whose results stay JSON: they are only sorted here."""

    results: tuple[msgspec.Raw, ...] = ()
    unmatched: tuple[UnmatchedTrace, ...] = ()
    only_unmatched: Trace | None = None
    usage: dict[str, JudgeUsage] = {}


class _SortedFields(Struct, frozen=True):
    """What a result is sorted by, and counted as."""

    case: str | None
    trace: str | None
    status: Status


class BatchMerger:
    """Collects batches. Each may be added once, in any order."""

    def __init__(self, job: ScoringJob, in_memory: int | None = None) -> None:
        self._job = job
        self._sorter = ResultSorter(in_memory)
        self._statuses: Counter[Status] = Counter()
        self._covered = bytearray(len(job.cases or ()))
        """Whether each case has a result, by position."""
        self._unmatched: list[UnmatchedTrace] = []
        self._only_unmatched: Trace | None = None
        self._usage: dict[int, dict[str, JudgeUsage]] = {}

    def add(self, number: int, batch: FinishedBatch) -> None:
        """Add the result of a batch."""
        decoded = _raw_batches().decode(batch) if isinstance(batch, bytes) else batch
        if isinstance(decoded, BatchResult):
            for index, result in enumerate(decoded.results):
                self._sorter.add(self._key(result, number, index), result)
        else:
            decode = _sorted_fields().decode
            for index, raw in enumerate(decoded.results):
                self._sorter.add(self._key(decode(raw), number, index), bytes(raw))
        self._unmatched += decoded.unmatched
        if len(self._unmatched) > 1:
            self._only_unmatched = None
        elif decoded.only_unmatched:
            self._only_unmatched = decoded.only_unmatched
        if decoded.usage:
            self._usage[number] = decoded.usage

    def counts(self) -> CaseCounts:
        """Return how the results so far came out, without those of cases that have no trace."""
        return case_counts(self._statuses)

    def _key(self, result: CaseResult | _SortedFields, number: int, index: int) -> ResultKey:
        """Count a result and return the key that it is sorted by."""
        self._statuses[result.status] += 1
        position = self._job.position(result.case)
        if result.case is not None:
            self._covered[position] = 1
        return ResultKey(position, result.trace or "", number, index)

    def finish(self, score: Callable[[Batch], BatchResult]) -> MergedResults:
        """Return all results, with one for each case that has no trace."""
        self._pair_only_trace(score)
        self._add_cases_without_trace()
        spool = Spool(RESULTS, self._sorter.in_memory)
        for _, result in self._sorter:
            if isinstance(result, bytes):
                spool.append_encoded(result)
            else:
                spool.append(result)
        self._sorter.close()
        # Batches end in any order, and the report must not show which.
        self._unmatched.sort(key=lambda trace: trace.trace)
        # By batch and not as they arrive: the sum of floats depends on their order.
        usage = total_usage(self._usage[number] for number in sorted(self._usage))
        return MergedResults(spool.finish(), tuple(self._unmatched), usage)

    def _pair_only_trace(self, score: Callable[[Batch], BatchResult]) -> None:
        """Pair the only trace with the only case, which no batch can do."""
        trace = None if self._statuses else self._only_unmatched
        pair = pair_only_case(self._job.cases or (), trace) if trace else None
        if pair:
            # The trace is no longer without a case, and it is asked about again with its case.
            self._unmatched.clear()
            self._usage.clear()
            self.add(_LAST, score(lambda: [pair]))

    def _add_cases_without_trace(self) -> None:
        """Add a result without scores for each case that has no trace: it did not pass."""
        for number, case in enumerate(self._find_uncovered_cases()):
            position = self._job.position(case.id)
            if not self._covered[position]:  # else another row with the same id has a trace
                status = self._job.plan.status_without_scores(case)
                result = CaseResult(case=case.id, trace=None, status=status, paired_by=NO_TRACE)
                key = ResultKey(position, "", _LAST, number)
                self._sorter.add(key, self._job.add_digest(result, case))

    def _find_uncovered_cases(self) -> Iterator[Case]:
        if self._job.selected is not None:
            yield from self._job.selected
            return
        cases = self._job.cases or ()
        for position, covered in enumerate(self._covered):
            if not covered:  # other cases need not be loaded
                yield cases[position]


def combine_batches(batches: Iterable[BatchResult]) -> BatchResult:
    """Combine the results of several batches into those of one."""
    parts = list(batches)
    unmatched = tuple(chain.from_iterable(part.unmatched for part in parts))
    only = next((part.only_unmatched for part in parts if part.only_unmatched), None)
    return BatchResult(
        results=tuple(chain.from_iterable(part.results for part in parts)),
        unmatched=unmatched,
        only_unmatched=only if len(unmatched) == 1 else None,
        usage=total_usage(part.usage for part in parts),
    )


def merge_batches(
    job: ScoringJob,
    batches: Iterable[tuple[int, FinishedBatch]],
    score: Callable[[Batch], BatchResult] | None = None,
) -> MergedResults:
    """Merge numbered batches. The result does not depend on their order. `score` scores a pair
    that only the whole run shows; without one, the job does."""
    merger = BatchMerger(job)
    for number, batch in batches:
        merger.add(number, batch)
    return merger.finish(score or job.score)


# Building a decoder takes longer than scoring a few traces.


@cache
def _raw_batches() -> msgspec.json.Decoder[_RawBatch]:
    return msgspec.json.Decoder(prepare_type(_RawBatch))


@cache
def _sorted_fields() -> msgspec.json.Decoder[_SortedFields]:
    return msgspec.json.Decoder(prepare_type(_SortedFields))
