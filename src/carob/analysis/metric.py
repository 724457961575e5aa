"""One metric in two runs: the numbers, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

import msgspec

from carob.analysis import sentence
from carob.analysis.columns import Joined
from carob.analysis.interval import at_ends, mean_interval, spread
from carob.analysis.power import detectable, needed
from carob.analysis.rules import Rules
from carob.analysis.sign_flip import sign_flip
from carob.errors import RefusedError
from carob.schema import Conclusion, Difference, Mean, MetricComparison, MetricUse, Passes

_HUGE = 1e100
"""Squares of larger scores are infinite to a computer."""


class Tested(NamedTuple):
    """The numbers of a metric, and how often chance alone would make a difference as large."""

    use: MetricUse
    held: bool
    joined: Joined
    p: float
    passes: Passes | None


class Family(NamedTuple):
    """The tests among which a test stands."""

    tests: int
    adjusted_p: float
    same_run: bool
    """A run compared with itself: there is no chance in it."""


def tested(use: MetricUse, joined: Joined, passes: Joined | None, *, held: bool) -> Tested:
    """Test the differences of a metric."""
    if any(abs(end(side)) > _HUGE for side in joined[:2] if side for end in (min, max)):
        raise RefusedError(f"scores of {use.name!r} are beyond {_HUGE:g}, too large to be compared")
    p = sign_flip(joined.differences)
    return Tested(use, held, joined, p, _passes(passes) if passes and passes.before else None)


def concluded(one: Tested, family: Family, rules: Rules) -> MetricComparison:
    """What the numbers say."""
    if not one.joined.before:
        return _comparison(one, "inconclusive")
    before = _mean(one.joined.before, one.use, rules.alpha)
    after = _mean(one.joined.after, one.use, rules.alpha)
    margin = _margin(one.use, before.value, after.value, rules)
    found = _difference(one, margin, family, rules)
    verdict = _verdict(found, one.use, rules.alpha)
    if verdict != "inconclusive":
        found = msgspec.structs.replace(found, needed=None)
    return _comparison(one, verdict, before, after, found)


def _comparison(
    one: Tested,
    verdict: Conclusion,
    before: Mean | None = None,
    after: Mean | None = None,
    difference: Difference | None = None,
) -> MetricComparison:
    made = MetricComparison(
        name=one.use.name,
        held=one.held,
        better=one.use.better,
        verdict=verdict,
        sentence="",
        cases=len(one.joined.before),
        before=before,
        after=after,
        difference=difference,
        passes=one.passes,
        lost=one.joined.lost,
        gained=one.joined.gained,
    )
    return msgspec.structs.replace(made, sentence=sentence.metric(made))


def _difference(one: Tested, margin: float, family: Family, rules: Rules) -> Difference:
    low, high = one.use.scale
    before, after = one.joined.before, one.joined.after
    largest = max(map(abs, (max(before), min(before), max(after), min(after))))
    span = (largest or 1.0) if high is None else high - low
    found = spread(one.joined.differences, span)
    levels = (1 - rules.alpha, max(0.0, 1 - 2 * rules.alpha))
    wide, narrow = [(0.0, 0.0) if family.same_run else found.interval(level) for level in levels]
    jumps = at_ends(before, one.use.scale) and at_ends(after, one.use.scale)
    return Difference(
        value=found.mean,
        interval=wide,
        equivalence_interval=narrow,
        margin=margin,
        p=one.p,
        adjusted_p=family.adjusted_p,
        detectable=detectable(found, rules.alpha / family.tests, jumps=jumps),
        needed=needed(found, margin, rules.alpha, family.tests),
    )


def _verdict(found: Difference, use: MetricUse, alpha: float) -> Conclusion:
    low, high = found.equivalence_interval
    if -found.margin <= low and high <= found.margin:
        return "equivalent"
    if found.adjusted_p > alpha:
        return "inconclusive"
    return "improved" if (found.value > 0) == (use.better == "higher") else "regressed"


def _mean(values: Sequence[float], use: MetricUse, alpha: float) -> Mean:
    return Mean(
        value=fsum(values) / len(values), interval=mean_interval(values, 1 - alpha, use.scale)
    )


def _margin(use: MetricUse, before: float, after: float, rules: Rules) -> float:
    low, high = use.scale
    if use.name in rules.margins:
        return rules.margins[use.name]
    return rules.margin * ((abs(before) + abs(after)) / 2 if high is None else high - low)


def _passes(both: Joined) -> Passes:
    differences = both.differences
    return Passes(
        before=fsum(both.before) / len(differences),
        after=fsum(both.after) / len(differences),
        broke=sum(one < 0 for one in differences),
        fixed=sum(one > 0 for one in differences),
        p=sign_flip(differences),
    )
