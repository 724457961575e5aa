"""Statistical power: the smallest difference that a number of cases can detect, and the number of
cases that a conclusion needs."""

from __future__ import annotations

from math import ceil, log2, sqrt

from carob.analysis.distributions import normal_quantile, rate_for_hits, t_quantile
from carob.analysis.interval import PairedSample

_TINY = 1e-100
"""The square of a smaller difference underflows to zero."""
POWER = 0.8
"""The probability of detecting a real difference."""


def smallest_detectable(sample: PairedSample, alpha: float, *, binary: bool) -> float | None:
    """The smallest difference that is detected with `POWER` at the significance level alpha; `None`
    if there are too few cases for any. `binary` is for cases that only pass or fail."""
    flips = _fewest_flips(alpha)
    if sample.cases < flips:
        return None
    if binary:
        smallest = sample.largest * rate_for_hits(flips, sample.cases, POWER)
        return min(sample.largest, max(smallest, _detectable_drop(sample, alpha)))
    degrees = sample.cases + 1
    return (t_quantile(1 - alpha / 2, degrees) + t_quantile(POWER, degrees)) * sample.error()


def _detectable_drop(sample: PairedSample, alpha: float) -> float:
    """The smallest detectable drop in the pass rate (Connor, 1987).

    A drop flips cases, and the more cases flip, the larger is the standard error: a drop of 20
    points makes at least 20 of 100 cases flip, even if none flipped before. So this solves
    `drop = z_alpha * sqrt((noise + drop) / n) + z_power * sqrt((noise + drop - drop²) / n)`, where
    the noise is the share of cases that flip without a change, and adds one case, because the exact
    test counts whole cases.
    """
    z_alpha, z_power = normal_quantile(1 - alpha / 2), normal_quantile(POWER)
    noise, cases = _noise(sample), sample.cases
    low, high = 0.0, 1.0
    for _ in range(50):  # bisection: the right-hand side grows more slowly than the drop
        drop = (low + high) / 2
        spread = z_alpha * sqrt((noise + drop) / cases)
        spread += z_power * sqrt(max(0.0, noise + drop - drop**2) / cases)
        low, high = (drop, high) if drop < spread else (low, drop)
    return sample.largest * (high + 1 / cases)


def _noise(sample: PairedSample) -> float:
    """The share of cases that flip without a change.

    The flips of the observed change are not noise, so they are subtracted, but only as far as the
    change exceeds its standard error: chance alone makes the observed change larger than zero.
    """
    flips = (sample.variance + sample.mean**2) / sample.largest**2
    return max(0.0, flips - max(0.0, abs(sample.mean) - sample.error()) / sample.largest)


def cases_needed(
    sample: PairedSample, margin: float, alpha: float, tests: int, *, binary: bool = False
) -> int | None:
    """The number of cases that a conclusion needs, if further cases are like these: to confirm the
    observed difference if it is beyond the margin, otherwise to rule out one beyond it."""
    if abs(sample.mean) > max(margin, _TINY):
        level = alpha / tests
        reach = normal_quantile(1 - level / 2) + normal_quantile(POWER)
        return max(
            sample.cases + 1, _fewest_flips(level), _solve_cases(sample, reach, abs(sample.mean))
        )
    if margin <= _TINY:
        return None
    reach = normal_quantile(1 - alpha) + normal_quantile((1 + POWER) / 2)
    needed = _solve_cases(sample, reach, margin)
    for _ in range(10 if binary else 0):  # the interval of pass rates is one case wider
        room = margin - sample.largest / needed
        needed = _solve_cases(sample, reach, room) if room > margin / 2 else 2 * needed
    return max(sample.cases + 1, needed)


def _solve_cases(sample: PairedSample, reach: float, difference: float) -> int:
    """Solve `reach * error = difference` for the number of cases in the standard error."""
    noise = reach**2 * sample.variance
    discriminant = noise**2 + 8 * (difference * reach * sample.largest) ** 2
    return ceil((noise + sqrt(discriminant)) / (2 * difference**2))


def _fewest_flips(alpha: float) -> int:
    """The fewest flips, all in the same direction, that are significant."""
    return ceil(1 - log2(alpha))
