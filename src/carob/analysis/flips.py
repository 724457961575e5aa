"""Cases that passed in one run and failed in the other."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest
from typing import overload

from carob.analysis.align import AlignedRun, AlignedRuns
from carob.analysis.per_case import pass_rates
from carob.analysis.score_table import FAILED, PASSED, STATUS, status_name
from carob.schema import CaseResult, CaseScore, Exchange, Flip, FlippedScore, FlippedTurn

_NO_EXCHANGE = Exchange(user=None, expected=None, actual=None)
_IN_MEMORY = 2_000
"""Flips that are made at once. More of them are made while they are iterated."""


def find_flips(aligned: AlignedRuns, metrics: Collection[str]) -> Sequence[Flip]:
    """Find cases of which most attempts passed in one run only."""
    positions = array("i")
    before, after = (_verdicts(side, aligned.pairs) for side in (aligned.before, aligned.after))
    for position, (old, new) in enumerate(zip(before, after, strict=True)):
        if old and new and old != new:
            positions.append(position)

    def make_flip(index: int) -> Flip:
        position = positions[index]
        return _flip(aligned, position, before[position], metrics)

    flips = LazyFlips(make_flip, len(positions))
    return flips if len(flips) > _IN_MEMORY else tuple(flips)


class LazyFlips(Sequence[Flip]):
    """Flips whose texts are read from the runs while they are iterated."""

    def __init__(self, make_flip: Callable[[int], Flip], number: int) -> None:
        self._make_flip, self._number = make_flip, number

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, index: int) -> Flip: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Flip, ...]: ...
    def __getitem__(self, index: int | slice) -> Flip | tuple[Flip, ...]:
        positions = range(self._number)[index]
        if isinstance(positions, int):
            return self._make_flip(positions)
        return tuple(map(self._make_flip, positions))


def _verdicts(side: AlignedRun, pairs: Sequence[int]) -> bytearray:
    """For each case, what most of its attempts ended with, or 0 if none has a verdict."""
    rates = pass_rates(side.table, pairs, side.statuses)
    verdicts = bytearray(len(pairs))
    for position, (rate, known) in enumerate(zip(rates.values, rates.known, strict=True)):
        if known:
            verdicts[position] = PASSED if rate > 0.5 else FAILED
    return verdicts


def _flip(aligned: AlignedRuns, position: int, verdict: int, metrics: Collection[str]) -> Flip:
    broke = verdict == PASSED
    number = aligned.pairs[position]
    before = _typical_attempt(aligned.before, number, verdict)
    after = _typical_attempt(aligned.after, number, FAILED if broke else PASSED)
    return Flip(
        case=aligned.name(position),
        kind="broke" if broke else "fixed",
        before=status_name(verdict),
        after=status_name(FAILED if broke else PASSED),
        scores=tuple(_changed_scores(before, after, metrics)),
        turns=tuple(_turns(before, after)),
    )


def _typical_attempt(side: AlignedRun, number: int, verdict: int) -> CaseResult:
    """Read the first attempt that ended as most did."""
    rows = side.table.rows(number)
    row = next(row for row in rows if side.statuses[row] & STATUS == verdict)
    return side.table.run.cases[row]


def _changed_scores(
    before: CaseResult, after: CaseResult, metrics: Collection[str]
) -> Iterator[FlippedScore]:
    old_scores = {score.metric: score for score in before.scores}
    for new in after.scores:
        old = old_scores.get(new.metric)
        if old and new.metric in metrics and (old.status, old.value) != (new.status, new.value):
            yield FlippedScore(
                metric=new.metric, before=old.value, after=new.value, reason=_reason(old, new)
            )


def _reason(before: CaseScore, after: CaseScore) -> str:
    return before.reason if after.status == "passed" else after.reason


def _turns(before: CaseResult, after: CaseResult) -> Iterator[FlippedTurn]:
    for old, new in zip_longest(before.exchanges, after.exchanges, fillvalue=_NO_EXCHANGE):
        yield FlippedTurn(
            user=new.user if old.user is None else old.user,
            expected=new.expected if old.expected is None else old.expected,
            before=old.actual,
            after=new.actual,
        )
