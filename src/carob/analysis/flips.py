"""Cases that passed in one run and failed in the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

from carob.analysis.per_case import Attempts, CasePair
from carob.analysis.repeats import count_attempts
from carob.schema import CaseResult, CaseScore, Exchange, Flip, FlippedScore, FlippedTurn

_NO_EXCHANGE = Exchange(user=None, expected=None, actual=None)


def find_flips(pairs: Sequence[CasePair], metrics: Collection[str]) -> Iterator[Flip]:
    """Find cases of which most attempts passed in one run only."""
    for pair in pairs:
        before, after = _mostly_passed(pair.before), _mostly_passed(pair.after)
        if before is not None and after is not None and before != after:
            yield _flip(pair, before, metrics)


def _mostly_passed(results: Attempts) -> bool | None:
    """Whether most attempts passed; `None` if none has a verdict."""
    if len(results) == 1:
        return {"passed": True, "failed": False}.get(results[0].status)
    counts = count_attempts(results)
    return 2 * counts.passed > counts.total if counts.total else None


def _flip(pair: CasePair, passed_before: bool, metrics: Collection[str]) -> Flip:
    before = _typical_attempt(pair.before, passed_before)
    after = _typical_attempt(pair.after, not passed_before)
    return Flip(
        case=pair.case,
        kind="broke" if passed_before else "fixed",
        before=before.status,
        after=after.status,
        scores=tuple(_changed_scores(before, after, metrics)),
        turns=tuple(_turns(before, after)),
    )


def _typical_attempt(results: Attempts, passed: bool) -> CaseResult:
    """The first attempt that ended as most did."""
    status = "passed" if passed else "failed"
    return next(result for result in results if result.status == status)


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
