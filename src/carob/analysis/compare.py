"""Is the difference between two runs real?

Every case is compared with itself. Attempts at the same case are averaged first, so that cases are
what is counted. How the verdicts are reached, and how sound they are, is in docs/design/gate.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.analysis import sentence
from carob.analysis.align import Aligned, align
from carob.analysis.columns import join, pass_rates, scores
from carob.analysis.flips import flips
from carob.analysis.holm import holm
from carob.analysis.metric import Family, Tested, concluded, tested
from carob.analysis.repeats import attempts, flaky, reliability
from carob.analysis.rules import PASS_RATE, Rules
from carob.schema import ComparedRun, Comparison, Conclusion, MetricComparison, MetricUse, Run

_PASS_RATE = MetricUse(
    name=PASS_RATE, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
)

_ORDER: tuple[Conclusion, ...] = ("regressed", "improved", "inconclusive", "equivalent")


def compare(before: Run, after: Run, rules: Rules) -> Comparison:
    """Compare two runs on what is the same in both."""
    found = align(before, after)
    rules.check([PASS_RATE, *found.uses])
    tests = [*_tested(found, rules)]
    made = [*_concluded(tests, rules, same_run=before.id == after.id)]
    overall = made.pop(0) if found.verdicts else None
    held = [one for one in (overall, *made) if one and one.held]
    verdict = _together(held)
    pairs = found.pairs if found.verdicts else ()
    repeated = any(len(one.before) > 1 or len(one.after) > 1 for one in pairs)
    counted = pairs if repeated else ()
    tally = {one.case: (attempts(one.before), attempts(one.after)) for one in counted}
    return Comparison(
        before=_run(before),
        after=_run(after),
        alpha=rules.alpha,
        verdict=verdict,
        sentence=sentence.whole(verdict, held, found.cases),
        cases=found.cases,
        moved=found.moved,
        overall=overall,
        metrics=tuple(made),
        flips=tuple(flips(pairs, found.uses)),
        flaky=flaky(tally),
        reliability=reliability(tally),
    )


def _tested(found: Aligned, rules: Rules) -> Iterator[Tested]:
    """The pass rate first, then the metrics in their order."""
    names = [one.case for one in found.pairs]
    old, new = [one.before for one in found.pairs], [one.after for one in found.pairs]
    if found.verdicts:
        yield tested(_PASS_RATE, join(names, pass_rates(old), pass_rates(new)), None, held=True)
    left, right = scores(old, found.uses), scores(new, found.uses)
    for name, use in found.uses.items():
        one, other = left[name], right[name]
        firm = name in found.firm and use.threshold is not None
        passes = join(names, one.passes, other.passes) if firm else None
        held = use.threshold is not None or name in rules.held
        yield tested(use, join(names, one.values, other.values), passes, held=held)


def _concluded(
    tests: Sequence[Tested], rules: Rules, *, same_run: bool
) -> Iterator[MetricComparison]:
    """Metrics that inform raise no alarm, so they are a family of their own: however many of them
    there are, those that are held see no less."""
    families = {
        held: _distinct([one for one in tests if one.held is held]) for held in (True, False)
    }
    adjusted = {held: holm([one.p for one in family]) for held, family in families.items()}
    for one in tests:
        family = families[one.held]
        place = next((place for place, other in enumerate(family) if _same(one, other)), None)
        p = 1.0 if place is None else adjusted[one.held][place]
        yield concluded(one, Family(len(family), p, same_run), rules)


def _distinct(tests: Sequence[Tested]) -> list[Tested]:
    """Without those that repeat another: where one metric alone decides, it and the pass rate are
    the same numbers and one test, not two."""
    made: list[Tested] = []
    for one in tests:
        if one.joined.before and not any(_same(one, other) for other in made):
            made.append(one)
    return made


def _same(one: Tested, other: Tested) -> bool:
    return one.joined.before == other.joined.before and one.joined.after == other.joined.after


def _together(held: Sequence[MetricComparison]) -> Conclusion:
    """The worst that was shown; then the best; then whether anything is left open."""
    found = {one.verdict for one in held}
    for one in _ORDER:
        if one in found:
            return one
    return "inconclusive"


def _run(run: Run) -> ComparedRun:
    return ComparedRun(id=run.id, created_at=run.created_at, dataset=run.dataset)
