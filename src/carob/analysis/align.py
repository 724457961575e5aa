"""Two runs, case by case: what is the same in both, and what moved besides the agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carob.analysis.moved import Metrics, shared_metrics, what_moved
from carob.analysis.pair import Attempted, Pair
from carob.schema import Alignment, CaseResult, MetricUse, Moved, Run, Status


class Aligned(NamedTuple):
    """What two runs have in common."""

    cases: Alignment
    pairs: Sequence[Pair]
    uses: Mapping[str, MetricUse]
    """The metrics that mean the same in both runs."""
    firm: Collection[str]
    """Those of them that are held to the same threshold, or to none, in both."""
    verdicts: bool
    """Can the verdicts on whole cases be compared?"""
    moved: tuple[Moved, ...]


def align(before: Run, after: Run) -> Aligned:
    """Pair the cases of two runs; those that ask or expect something else are left out."""
    cases, pairs = _paired(before, after)
    metrics = shared_metrics(before, after)
    moved = (*metrics.moved, *what_moved(before, after, pairs))
    firm_rules = not any(one.what in ("metric", "profile") for one in moved)
    judged = any(one.judgement for run in (before, after) for one in run.cases)
    if not firm_rules and not judged:
        pairs = [_judged_anew(pair, metrics) for pair in pairs]
    return Aligned(
        cases=cases,
        pairs=pairs,
        uses=metrics.uses,
        firm=metrics.firm,
        verdicts=(firm_rules or not judged) and _decides(judged, metrics),
        moved=moved,
    )


def _paired(before: Run, after: Run) -> tuple[Alignment, list[Pair]]:
    old, new = by_case(before), by_case(after)
    common = [case for case in new if case in old]
    whole = _digest(before) == _digest(after) is not None
    pairs = [
        Pair(case, old[case], new[case])
        for case in common
        if whole or old[case][0].digest == new[case][0].digest is not None
    ]
    same = {pair.case for pair in pairs}
    cases = Alignment(
        same=len(pairs),
        added=tuple(case for case in new if case not in old),
        removed=tuple(case for case in old if case not in new),
        changed=tuple(case for case in common if case not in same),
    )
    return cases, pairs


def by_case(run: Run) -> Mapping[str, Attempted]:
    """The attempts at each case; what belongs to no case is left out."""
    once = {one.case: (one,) for one in run.cases if one.case is not None}
    if len(once) == len(run.cases):  # most often, and cheaper: the collector passes over tuples
        return once
    made: dict[str, list[CaseResult]] = {}
    for result in run.cases:
        if result.case is not None:
            made.setdefault(result.case, []).append(result)
    return made


def _digest(run: Run) -> str | None:
    return run.dataset.digest if run.dataset else None


def _decides(judged: bool, metrics: Metrics) -> bool:
    """A verdict that no threshold and no profile made says nothing."""
    return judged or any(metrics.uses[name].threshold is not None for name in metrics.firm)


def _judged_anew(pair: Pair, metrics: Metrics) -> Pair:
    """The pair with verdicts by those metrics only that both runs hold to the same."""
    return Pair(pair.case, [*_anew(pair.before, metrics)], [*_anew(pair.after, metrics)])


def _anew(results: Attempted, metrics: Metrics) -> Iterator[CaseResult]:
    for one in results:
        found = {score.status for score in one.scores if score.metric in metrics.firm}
        yield msgspec.structs.replace(one, status=_worst(found))


def _worst(found: Collection[str]) -> Status:
    if "failed" in found:
        return "failed"
    if "error" in found:
        return "error"
    return "passed" if set(found) - {"unscored"} else "unscored"
