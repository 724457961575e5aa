"""A share of the work: some traces, the cases they may belong to, and the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from carob.runner.done import Done
from carob.runner.pairing import Pair, Pairing, cross
from carob.runner.plan import Plan
from carob.schema import Case, CaseResult, Trace, Unmatched

Batch: TypeAlias = Callable[[], Iterable[Trace | Pair]]
"""Some of the traces, or pairs that need no pairing; picklable, for another process."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """All that a process needs to score a batch."""

    plan: Plan
    cases: Sequence[Case] | None
    """Without golden data there are none to belong to; golden data without cases is golden data."""
    crossed: bool = False
    pairing: Pairing = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairing", Pairing(self.cases or ()))

    def score(self, batch: Batch) -> Done:
        """Score the traces of a batch as they come."""
        unmatched: list[Pair] = []
        results = [self.plan.score(pair) for pair in self.matched(batch, unmatched)]
        return batch_done(results, unmatched)

    def matched(self, batch: Batch, unmatched: list[Pair]) -> Iterator[Pair]:
        """The pairs of a batch that can be scored; the others are put into the list."""
        for item in batch():
            for pair in [item] if isinstance(item, Pair) else self._pairs(item):
                if pair.case is None and self.cases is not None:
                    unmatched.append(pair)
                else:
                    yield pair

    def _pairs(self, trace: Trace) -> list[Pair]:
        if self.cases is None:
            return [Pair(None, trace, "no golden data")]
        return cross(self.cases, trace) if self.crossed else [self.pairing.pair(trace)]


def batch_done(results: Sequence[CaseResult], unmatched: Sequence[Pair]) -> Done:
    """What a batch gave."""
    return Done(
        results=tuple(results),
        unmatched=tuple(Unmatched(trace=pair.trace.id, why=pair.how) for pair in unmatched),
        lone=unmatched[0].trace if len(unmatched) == 1 else None,
    )
