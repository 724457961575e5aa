"""One batch of traces: pair it with cases and score it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from carob.runner.case_index import CaseIndex
from carob.runner.pairing import Pair, Pairing, pair_with_all
from carob.runner.plan import Plan
from carob.schema import Case, CaseResult, JudgeUsage, Struct, Trace, UnmatchedTrace
from carob.schema.digest import expectation_digest

Batch: TypeAlias = Callable[[], Iterable[Trace | Pair]]
"""Reads some of the traces, or pairs that are known already. Picklable, for worker processes."""

_KNOWN_DIGESTS = 4096
"""Cases whose digests are remembered; those of others are computed again."""


class BatchResult(Struct, frozen=True):
    """The results of one batch."""

    results: tuple[CaseResult, ...] = ()
    unmatched: tuple[UnmatchedTrace, ...] = ()
    only_unmatched: Trace | None = None
    """The unmatched trace of the batch if there is exactly one: it may be the only trace of the
    run, which a single batch cannot know."""
    usage: dict[str, JudgeUsage] = {}
    """Judge usage by metric."""


@dataclass(frozen=True, kw_only=True)
class ScoringJob:
    """Everything that a process needs to score a batch."""

    plan: Plan
    cases: Sequence[Case] | None
    """`None` without golden data: traces are then scored without a case. Golden data without
    cases is an empty list, and matches no trace."""
    selected: Sequence[Case] | None = None
    """The cases to score, if not all of them. Traces of other cases are skipped."""
    crossed: bool = False
    """Whether to score every case with every trace."""
    pairing: Pairing = field(init=False)
    by_id: CaseIndex = field(init=False)
    """The cases to score, by id."""
    _ids: frozenset[str] | None = field(init=False)
    _digests: dict[str, tuple[Case, str]] = field(
        init=False, default_factory=dict[str, tuple[Case, str]]
    )

    def __post_init__(self) -> None:
        pairing = Pairing(self.cases or ())
        selected = self.selected
        object.__setattr__(self, "pairing", pairing)
        by_id = pairing.cases if selected is None else CaseIndex(selected)
        object.__setattr__(self, "by_id", by_id)
        ids = None if selected is None else frozenset(case.id for case in selected)
        object.__setattr__(self, "_ids", ids)

    @property
    def scored_cases(self) -> Sequence[Case]:
        """The cases that must have a result."""
        return (self.cases or ()) if self.selected is None else self.selected

    def position(self, case: str | None) -> int:
        """Return the position of a case in the dataset, by which results are sorted."""
        return self.pairing.cases.position(case) if case is not None and self.cases else 0

    def score(self, batch: Batch) -> BatchResult:
        """Score the traces of a batch while they are read."""
        unmatched: list[Pair] = []
        results = [
            self.add_digest(self.plan.score(pair), pair.case)
            for pair in self.matched(batch, unmatched)
        ]
        return self.batch_result(results, unmatched)

    def matched(self, batch: Batch, unmatched: list[Pair]) -> Iterator[Pair]:
        """Yield the pairs of a batch that can be scored, and append the others to `unmatched`."""
        for item in batch():
            for pair in [item] if isinstance(item, Pair) else self._pairs(item):
                if pair.case is None and self.cases is not None:
                    unmatched.append(pair)
                elif pair.case is None or self._ids is None or pair.case.id in self._ids:
                    yield pair

    def _pairs(self, trace: Trace) -> list[Pair]:
        if self.cases is None:
            return [Pair(None, trace, "no golden data")]
        if self.crossed:
            return pair_with_all(self.scored_cases, trace)
        return [self.pairing.pair(trace)]

    def batch_result(
        self,
        results: Iterable[CaseResult],
        unmatched: Sequence[Pair],
        usage: dict[str, JudgeUsage] | None = None,
    ) -> BatchResult:
        """Build the result of a batch."""
        return BatchResult(
            results=tuple(results),
            unmatched=tuple(UnmatchedTrace(pair.trace.id, pair.reason) for pair in unmatched),
            only_unmatched=unmatched[0].trace if len(unmatched) == 1 else None,
            usage=usage or {},
        )

    def add_digest(self, result: CaseResult, case: Case | None) -> CaseResult:
        """Add the digest of the case, by which comparisons align runs."""
        if case is None:
            return result
        # Rows with recorded answers may share an id, so the digest is that of this very row.
        known = self._digests.get(case.id)
        if known is not None and known[0] is case:
            return msgspec.structs.replace(result, digest=known[1])
        digest = expectation_digest(case)
        # Cases in a file are decoded for each trace: remembering them would only take memory.
        if isinstance(self.cases, tuple) and len(self._digests) < _KNOWN_DIGESTS:
            self._digests[case.id] = case, digest
        return msgspec.structs.replace(result, digest=digest)
