from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by Holm's method, in their own order: whoever takes those
    up to alpha for real is wrong about any of them no more often than alpha."""
    made = [0.0] * len(values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        least = max(least, min(1.0, (len(values) - rank) * values[place]))
        made[place] = least
    return made
