"""Repeated attempts at the same case: pass@k, pass^k and flaky cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, repeat
from math import comb, fsum

from carob.schema import AttemptCounts, AttemptRate, AttemptSummary, CaseResult, Reliability

AttemptTally = Mapping[tuple[AttemptCounts, AttemptCounts], int]
"""How many cases have these attempts before and after. A million cases that were repeated a few
times have only a few different counts."""


def count_attempts(results: Iterable[CaseResult]) -> AttemptCounts:
    """Count the attempts at one case that have a verdict."""
    passed = total = 0
    for result in results:
        passed += result.status == "passed"
        total += result.status in ("passed", "failed")
    return AttemptCounts(passed=passed, total=total)


def pass_at(k: int, counts: AttemptCounts) -> float:
    """The unbiased estimate of pass@k: the share of all choices of `k` attempts of which at least
    one passed."""
    return 1 - comb(counts.total - counts.passed, k) / comb(counts.total, k)


def pass_all(k: int, counts: AttemptCounts) -> float:
    """The unbiased estimate of pass^k: the share of all choices of `k` attempts that all passed."""
    return comb(counts.passed, k) / comb(counts.total, k)


def reliability(tally: AttemptTally) -> tuple[Reliability, ...]:
    """pass@k and pass^k for k = 1, 2, 4, … up to the number of repeats."""
    most = max((min(a.total, b.total) for a, b in tally), default=0)
    if most < 2:
        return ()
    return tuple(_reliability_at(k, tally) for k in _choose_ks(most))


def attempt_summary(tally: Mapping[str, AttemptCounts]) -> AttemptSummary | None:
    """pass@k, pass^k and flaky cases of one run; `None` if no case was tried twice."""
    most = max((counts.total for counts in tally.values()), default=0)
    if most < 2:
        return None
    return AttemptSummary(
        rates=tuple(_rate_at(k, tally) for k in _choose_ks(most)),
        flaky={
            case: (counts.passed, counts.total)
            for case, counts in tally.items()
            if is_flaky(counts)
        },
    )


def _choose_ks(most: int) -> list[int]:
    return sorted({1 << power for power in range(most.bit_length())} | {most})


def _rate_at(k: int, tally: Mapping[str, AttemptCounts]) -> AttemptRate:
    enough = [counts for counts in tally.values() if counts.total >= k]
    return AttemptRate(
        k=k,
        cases=len(enough),
        any_passes=fsum(pass_at(k, counts) for counts in enough) / len(enough),
        all_pass=fsum(pass_all(k, counts) for counts in enough) / len(enough),
    )


def is_flaky(counts: AttemptCounts) -> bool:
    """Whether some attempts at a case passed and others failed."""
    return 0 < counts.passed < counts.total


def _reliability_at(k: int, tally: AttemptTally) -> Reliability:
    enough = {both: cases for both, cases in tally.items() if min(c.total for c in both) >= k}
    cases = sum(enough.values())

    def mean(estimate: Callable[[int, AttemptCounts], float], side: int) -> float:
        # One number per case, not a number times its cases: an exact sum has no rounding errors
        # that depend on how cases are grouped.
        numbers = (repeat(estimate(k, both[side]), count) for both, count in enough.items())
        return fsum(chain.from_iterable(numbers)) / cases

    return Reliability(
        k=k,
        cases=cases,
        any_passes=(mean(pass_at, 0), mean(pass_at, 1)),
        all_pass=(mean(pass_all, 0), mean(pass_all, 1)),
    )
