"""What so many cases can show, and how many it would take to show more."""

from __future__ import annotations

from math import ceil, log2, sqrt

from carob.analysis.distributions import normal_quantile, rate_for, t_quantile
from carob.analysis.interval import Spread

_TINY = 1e-100
"""Squares of smaller differences are zero to a computer."""
POWER = 0.8
"""How often a difference that is there is to be found."""


def detectable(found: Spread, alpha: float, *, jumps: bool) -> float | None:
    """The smallest difference that is found with `POWER` at the level alpha. `jumps` says that the
    cases differ completely or not at all, as with pass and fail."""
    flips = _fewest(alpha)
    if found.cases < flips:
        return None
    if jumps:
        fewest = found.largest * rate_for(flips, found.cases, POWER)
        return min(found.largest, max(fewest, _flipping(found, alpha)))
    freedom = found.cases + 1
    return (t_quantile(1 - alpha / 2, freedom) + t_quantile(POWER, freedom)) * found.error()


def _flipping(found: Spread, alpha: float) -> float:
    """A drop makes cases flip, and the more flip, the more of them chance could explain: solves
    `drop = chance * sqrt(error² + drop² / cases) + sure * error`, and adds one case, which is what
    it costs that an exact test of flips goes by whole cases."""
    chance, sure = normal_quantile(1 - alpha / 2), normal_quantile(POWER)
    left = 1 - chance**2 / found.cases
    if left <= 0:
        return found.largest
    root = sqrt(sure**2 - left * (sure**2 - chance**2))
    return found.error() * (sure + root) / left + found.largest / found.cases


def needed(found: Spread, margin: float, alpha: float, tests: int) -> int | None:
    """How many cases a conclusion would take, if more cases are like these: to show the difference
    that was seen if it is beyond the margin, or else that there is none beyond it."""
    if abs(found.mean) > max(margin, _TINY):
        level = alpha / tests
        reach = normal_quantile(1 - level / 2) + normal_quantile(POWER)
        return max(found.cases + 1, _fewest(level), _cases(found, reach, abs(found.mean)))
    if margin <= _TINY:
        return None
    reach = normal_quantile(1 - alpha) + normal_quantile((1 + POWER) / 2)
    return max(found.cases + 1, _cases(found, reach, margin))


def _cases(found: Spread, reach: float, difference: float) -> int:
    """From `reach * error = difference`, solved for the number of cases within the error."""
    noise = reach**2 * found.variance
    both = noise**2 + 8 * (difference * reach * found.largest) ** 2
    return ceil((noise + sqrt(both)) / (2 * difference**2))


def _fewest(alpha: float) -> int:
    """Differences that must all point the same way before chance is ruled out."""
    return ceil(1 - log2(alpha))
