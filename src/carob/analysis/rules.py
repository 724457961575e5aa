from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from carob.errors import UsageError

ALPHA = 0.05
"""How often chance may be taken for a difference."""
MARGIN = 0.02
"""The difference that does not matter, as a share of the scale; of the mean where the scale has no
end."""
PASS_RATE = "pass_rate"  # noqa: S105 - not a password
"""The name under which verdicts on whole cases are compared."""


class Rules(NamedTuple):
    """What is asked of a comparison."""

    alpha: float = ALPHA
    margin: float = MARGIN
    margins: Mapping[str, float] = {}
    """In the units of the metrics that they are for."""
    held: Collection[str] = ()
    """Metrics that may fail a gate although they have no threshold."""

    def check(self, metrics: Collection[str]) -> None:
        """The numbers must make sense, and the names be known."""
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is {self.alpha:g}, expected a number between 0 and 1")
        if not 0 <= self.margin <= 1:
            message = f"the margin is {self.margin:g}, expected a share of the scale from 0 to 1"
            raise UsageError(
                message, hint="0.05 is 5 %; METRIC=NUMBER is in the metric's own units"
            )
        for name, margin in self.margins.items():
            if not 0 <= margin < float("inf"):
                raise UsageError(f"the margin of {name!r} is {margin:g}, expected 0 or more")
        for name in [*self.margins, *self.held]:
            if name not in metrics:
                hint = f"what is compared: {', '.join(metrics) or 'nothing'}"
                raise UsageError(f"{name!r} is not a metric that both runs share", hint=hint)
