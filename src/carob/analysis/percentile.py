from __future__ import annotations

from collections.abc import Sequence


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of the sorted values lies, by linear interpolation: the same
    number, bit for bit, as numpy's default."""
    place = (len(ordered) - 1) * share
    below = int(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = place - below
    step = high - low
    return high - step * (1 - part) if part >= 0.5 else low + step * part
