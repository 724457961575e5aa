"""What so many cases can show, and how many it would take to show more."""

from __future__ import annotations

from math import ceil, log2, sqrt

from karat.analysis.distributions import normal_quantile, rate_for, t_quantile
from karat.analysis.interval import Spread

POWER = 0.8
"""How often a difference that is there is to be found."""


def detectable(found: Spread, alpha: float, *, jumps: bool) -> float | None:
    """The smallest difference that is found with `POWER` at the level alpha. `jumps` says that the
    cases differ completely or not at all, as with pass and fail."""
    flips = _fewest(alpha)
    if found.cases < flips:
        return None
    freedom = found.cases + 1
    reach = t_quantile(1 - alpha / 2, freedom) + t_quantile(POWER, freedom)
    smooth = reach * found.error()
    if not jumps:
        return smooth
    # An exact test of flips goes by whole cases, which costs about one of them.
    stepped = smooth + found.largest / found.cases
    return max(stepped, found.largest * rate_for(flips, found.cases, POWER))


def needed(found: Spread, margin: float, alpha: float, tests: int) -> int | None:
    """How many cases a conclusion would take, if more cases are like these: to show the difference
    that was seen if it is beyond the margin, or else that there is none beyond it."""
    if abs(found.mean) > margin:
        level = alpha / tests
        reach = normal_quantile(1 - level / 2) + normal_quantile(POWER)
        return max(found.cases + 1, _fewest(level), _cases(found, reach, abs(found.mean)))
    if not margin:
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
