"""Intervals for means over cases. Attempts at the same case are one number before they come here,
so that repeats do not pass for more cases than there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from typing import NamedTuple

from carob.analysis.distributions import normal_quantile, optional, t_quantile
from carob.schema import Interval
from carob.schema.scale import Scale


class Spread(NamedTuple):
    """Paired differences in short."""

    cases: int
    mean: float
    variance: float
    """Of the differences as they are, around their mean."""
    largest: float
    """The largest difference that was seen, or that could be if none was."""

    def error(self) -> float:
        """The standard error, with one more of the largest differences in either direction: no
        difference among few cases does not mean that there is none. For pass and fail this is the
        interval of Bonett and Price."""
        squares = self.cases * (self.variance + self.mean**2) + 2 * self.largest**2
        return sqrt(max(0.0, squares / self._number - self._middle**2) / self._number)

    def interval(self, level: float) -> Interval:
        """Where the true mean difference is, with this confidence."""
        reach = t_quantile((1 + level) / 2, self._number - 1) * self.error()
        return self._middle - reach, self._middle + reach

    @property
    def _number(self) -> int:
        return self.cases + 2

    @property
    def _middle(self) -> float:
        return self.mean * self.cases / self._number


def spread(differences: Sequence[float], span: float) -> Spread:
    """Differences in short; `span` is how large one could be at most."""
    number, mean = len(differences), fsum(differences) / len(differences)
    variance = _squares(differences, mean) / number
    return Spread(number, mean, variance, max(map(abs, differences)) or span)


def mean_interval(values: Sequence[float], level: float, scale: Scale) -> Interval | None:
    """Where the true mean is: Wilson's interval if all values are at the ends of the scale,
    Student's otherwise; `None` for a single value."""
    low, high = scale
    if high is not None and at_ends(values, scale):
        share = values.count(high) / len(values)
        return _scaled(_wilson(share, len(values), level), low, high)
    if len(values) < 2:
        return None
    mean = fsum(values) / len(values)
    variance = _squares(values, mean) / (len(values) - 1)
    reach = t_quantile((1 + level) / 2, len(values) - 1) * sqrt(variance / len(values))
    above = mean + reach
    return max(low, mean - reach), above if high is None else min(high, above)


def at_ends(values: Sequence[float], scale: Scale) -> bool:
    """Are all values the lowest or the highest that there can be, as with pass and fail?"""
    low, high = scale
    return high is not None and values.count(low) + values.count(high) == len(values)


def _squares(values: Sequence[float], mean: float) -> float:
    np = optional("numpy")
    off = np.array(values) - mean
    return fsum((off * off).tolist())  # exact, and so the same in any order


def _wilson(share: float, number: int, level: float) -> Interval:
    z = normal_quantile((1 + level) / 2)
    weight = z * z / number
    middle = share + weight / 2
    reach = z * sqrt(share * (1 - share) / number + weight / (4 * number))
    return max(0.0, (middle - reach) / (1 + weight)), min(1.0, (middle + reach) / (1 + weight))


def _scaled(interval: Interval, low: float, high: float) -> Interval:
    return low + interval[0] * (high - low), low + interval[1] * (high - low)
