"""Confidence intervals of means over cases. Attempts at the same case must be averaged before: ten
repeats of one case are one observation, not ten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, sqrt
from typing import Any, NamedTuple

from carob.analysis.distributions import (
    import_optional,
    normal_quantile,
    rate_for_hits,
    t_quantile,
)
from carob.schema import Interval
from carob.schema.outcome import Scale

_BLOCK = 10_000


class PairedSample(NamedTuple):
    """Paired differences, summarized."""

    cases: int
    mean: float
    variance: float
    """Of the differences around their mean."""
    largest: float
    """The largest observed difference; the largest possible one if all are zero."""

    def error(self) -> float:
        """The standard error after adding one largest difference in either direction.

        Without them, five cases without a difference would have a standard error of zero and prove
        that the runs are equal. For pass and fail this is the Bonett-Price interval.
        """
        squares = self.cases * (self.variance + self.mean**2) + 2 * self.largest**2
        return sqrt(max(0.0, squares / self._number - self._center**2) / self._number)

    def interval(self, level: float) -> Interval:
        """The confidence interval of the mean difference."""
        half_width = t_quantile((1 + level) / 2, self._number - 1) * self.error()
        return self._center - half_width, self._center + half_width

    def equivalence_interval(self, level: float, *, binary: bool) -> Interval:
        """The interval that must lie within the margin for a claim of equivalence.

        Pass and fail change in whole cases, and the smooth interval claims equivalence in up to 9 %
        of the comparisons that differ by just the margin, where 5 % are promised. So for them it is
        one case wider at both ends, and never narrower than the exact binomial bound.
        """
        low, high = self.interval(level)
        if not binary:
            return low, high
        step = self.largest / self.cases
        return min(low - step, -self._exact_bound(-1, level)), max(
            high + step, self._exact_bound(1, level)
        )

    def _exact_bound(self, direction: int, level: float) -> float:
        """The Clopper-Pearson bound on the rate of net flips in one direction."""
        flips = max(0, round(direction * self.mean * self.cases / self.largest))
        if flips >= self.cases:
            return self.largest
        return self.largest * rate_for_hits(flips + 1, self.cases, (1 + level) / 2)

    @property
    def _number(self) -> int:
        return self.cases + 2

    @property
    def _center(self) -> float:
        return self.mean * self.cases / self._number


def paired_differences(differences: Sequence[float], span: float) -> PairedSample:
    """Summarize paired differences; `span` is the largest possible difference."""
    number, mean = len(differences), fsum(differences) / len(differences)
    variance = _sum_of_squares(differences, mean) / number
    return PairedSample(number, mean, variance, max(map(abs, differences)) or span)


def mean_interval(values: Sequence[float], level: float, scale: Scale) -> Interval | None:
    """The confidence interval of a mean: Wilson's if all values are at the ends of the scale, else
    Student's; `None` for a single value."""
    low, high = scale
    if high is not None and at_ends(values, scale):
        share = values.count(high) / len(values)
        return _scale_interval(_wilson(share, len(values), level), low, high)
    if len(values) < 2:
        return None
    mean = fsum(values) / len(values)
    variance = _sum_of_squares(values, mean) / (len(values) - 1)
    half_width = t_quantile((1 + level) / 2, len(values) - 1) * sqrt(variance / len(values))
    above = mean + half_width
    return max(low, mean - half_width), above if high is None else min(high, above)


def at_ends(values: Sequence[float], scale: Scale) -> bool:
    """Whether all values are the lowest or highest possible, as with pass and fail."""
    low, high = scale
    return high is not None and values.count(low) + values.count(high) == len(values)


def _sum_of_squares(values: Sequence[float], mean: float) -> float:
    np = import_optional("numpy")
    deviations = np.array(values) - mean
    np.multiply(deviations, deviations, out=deviations)
    # An exact sum does not depend on the order of the cases; `.sum()` does in the last digits.
    return fsum(_floats(deviations))


def _floats(numbers: Any) -> Iterator[float]:
    """The numbers of an array, without a list of all of them."""
    for start in range(0, len(numbers), _BLOCK):
        yield from numbers[start : start + _BLOCK].tolist()


def _wilson(share: float, number: int, level: float) -> Interval:
    z = normal_quantile((1 + level) / 2)
    weight = z * z / number
    center = share + weight / 2
    half_width = z * sqrt(share * (1 - share) / number + weight / (4 * number))
    return max(0.0, (center - half_width) / (1 + weight)), min(
        1.0, (center + half_width) / (1 + weight)
    )


def _scale_interval(interval: Interval, low: float, high: float) -> Interval:
    return low + interval[0] * (high - low), low + interval[1] * (high - low)
