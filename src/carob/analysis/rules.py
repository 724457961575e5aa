"""The settings of a comparison: significance level, margins, deciding metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from carob.errors import UsageError
from carob.schema.outcome import Scale

ALPHA = 0.05
"""The significance level."""
MARGIN = 0.02
"""The largest difference that does not matter, as a share of the scale; of the mean, if the scale
has no upper end."""
PASS_RATE = "pass_rate"  # noqa: S105 - not a password
"""The name under which verdicts on whole cases are compared."""
_LEAST_ALPHA = 1e-12


class ComparisonRules(NamedTuple):
    """The settings of a comparison."""

    alpha: float = ALPHA
    margin: float = MARGIN
    margins: Mapping[str, float] = {}
    """Margins of single metrics, in the units of the metric."""
    deciding: Collection[str] = ()
    """Metrics that may fail a gate although they have no threshold."""

    def check(self, scales: Mapping[str, Scale]) -> None:
        """Raise `UsageError` for numbers out of range and for metrics that are not compared. With
        a margin as wide as the scale no run could be worse than another."""
        # Below, 1 - alpha is 1 in floating point, and its quantile infinite.
        if not _LEAST_ALPHA <= self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha:g}, expected a number between 0 and 1")
        if not 0 <= self.margin < 1:
            message = f"the margin is {self.margin:g}, expected a share of the scale, 0 to below 1"
            hint = "0.05 is 5%; use METRIC=NUMBER for the metric's own units"
            raise UsageError(message, hint=hint)
        for name, margin in self.margins.items():
            if not 0 <= margin < float("inf"):
                raise UsageError(f"the margin of {name!r} is {margin:g}, expected 0 or more")
        for name in [*self.margins, *self.deciding]:
            if name not in scales:
                hint = f"compared metrics: {', '.join(scales) or 'none'}"
                raise UsageError(f"{name!r} is not a metric that both runs share", hint=hint)
        for name, margin in self.margins.items():
            low, high = scales[name]
            if high is not None and margin >= high - low:
                message = f"the margin of {name!r} is {margin:g}, expected less than its scale"
                raise UsageError(message, hint=f"the scale is {low:g} to {high:g}")
