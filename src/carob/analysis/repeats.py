"""Several attempts at the same case: what one of them is worth, and what all of them are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb, fsum

from carob.schema import Attempts, CaseResult, FlakyCase, Reliability

Tally = Mapping[str, tuple[Attempts, Attempts]]
"""Attempts at each case, before and after."""


def attempts(results: Sequence[CaseResult]) -> Attempts:
    """The attempts at one case that have a verdict."""
    passed = sum(one.status == "passed" for one in results)
    return Attempts(passed=passed, total=passed + sum(one.status == "failed" for one in results))


def pass_at(k: int, one: Attempts) -> float:
    """pass@k without bias: the share of all choices of `k` attempts in which one passed."""
    return 1 - comb(one.total - one.passed, k) / comb(one.total, k)


def pass_all(k: int, one: Attempts) -> float:
    """pass^k without bias: the share of all choices of `k` attempts in which all passed."""
    return comb(one.passed, k) / comb(one.total, k)


def reliability(tally: Tally) -> tuple[Reliability, ...]:
    """pass@k and pass^k for one attempt, twice as many and so on, as far as there are repeats."""
    most = max((min(a.total, b.total) for a, b in tally.values()), default=0)
    if most < 2:
        return ()
    ks = {1 << power for power in range(most.bit_length())} | {most}
    return tuple(_reliability(k, tally) for k in sorted(ks))


def flaky(tally: Tally) -> tuple[FlakyCase, ...]:
    """The cases of which some attempts in the same run passed and others failed."""
    return tuple(
        FlakyCase(case=case, before=before, after=after)
        for case, (before, after) in tally.items()
        if any(0 < one.passed < one.total for one in (before, after))
    )


def _reliability(k: int, tally: Tally) -> Reliability:
    enough = [both for both in tally.values() if min(one.total for one in both) >= k]

    def mean(of: Callable[[int, Attempts], float], side: int) -> float:
        return fsum(of(k, both[side]) for both in enough) / len(enough)

    return Reliability(
        k=k,
        cases=len(enough),
        any_passes=(mean(pass_at, 0), mean(pass_at, 1)),
        all_pass=(mean(pass_all, 0), mean(pass_all, 1)),
    )
