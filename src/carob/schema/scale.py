"""The scale of a metric: its lower end, and the upper one if there is one."""

from __future__ import annotations

from math import inf
from typing import TypeAlias

from carob.errors import UsageError

Scale: TypeAlias = tuple[float, float | None]


def check_threshold(name: str, threshold: float, scale: Scale) -> None:
    """A threshold off the scale would fail, or pass, whatever the agent does."""
    low, high = scale
    if low <= threshold <= (inf if high is None else high):
        return
    expected = f"from {low:g} on" if high is None else f"from {low:g} to {high:g}"
    raise UsageError(
        f"metric {name!r}: the threshold is {threshold:g}, expected a number {expected}"
    )
