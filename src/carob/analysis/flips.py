"""The cases that passed in one run and not in the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

from carob.analysis.pair import Attempted, Pair
from carob.analysis.repeats import attempts
from carob.schema import CaseResult, CaseScore, Exchange, Flip, FlippedScore, FlippedTurn


def flips(pairs: Sequence[Pair], metrics: Collection[str]) -> Iterator[Flip]:
    """Cases of which most attempts passed before and do not now, or the other way round."""
    for pair in pairs:
        before, after = _passes(pair.before), _passes(pair.after)
        if before is not None and after is not None and before != after:
            yield _flip(pair, before, metrics)


def _passes(results: Attempted) -> bool | None:
    """Most attempts passed; `None` if none has a verdict."""
    if len(results) == 1:
        return {"passed": True, "failed": False}.get(results[0].status)
    found = attempts(results)
    return 2 * found.passed > found.total if found.total else None


def _flip(pair: Pair, passed_before: bool, metrics: Collection[str]) -> Flip:
    before = _typical(pair.before, passed_before)
    after = _typical(pair.after, not passed_before)
    return Flip(
        case=pair.case,
        kind="broke" if passed_before else "fixed",
        before=before.status,
        after=after.status,
        scores=tuple(_scores(before, after, metrics)),
        turns=tuple(_turns(before, after)),
    )


def _typical(results: Attempted, passed: bool) -> CaseResult:
    """The first attempt that ended as most did."""
    wanted = "passed" if passed else "failed"
    return next(one for one in results if one.status == wanted)


def _scores(
    before: CaseResult, after: CaseResult, metrics: Collection[str]
) -> Iterator[FlippedScore]:
    old = {score.metric: score for score in before.scores}
    for new in after.scores:
        one = old.get(new.metric)
        if one and new.metric in metrics and (one.status, one.value) != (new.status, new.value):
            yield FlippedScore(
                metric=new.metric, before=one.value, after=new.value, reason=_reason(one, new)
            )


def _reason(before: CaseScore, after: CaseScore) -> str:
    return before.reason if after.status == "passed" else after.reason


def _turns(before: CaseResult, after: CaseResult) -> Iterator[FlippedTurn]:
    nothing = Exchange(user=None, expected=None, actual=None)
    for old, new in zip_longest(before.exchanges, after.exchanges, fillvalue=nothing):
        yield FlippedTurn(
            user=new.user if old.user is None else old.user,
            expected=new.expected if old.expected is None else old.expected,
            before=old.actual,
            after=new.actual,
        )
