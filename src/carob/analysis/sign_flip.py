"""The paired permutation test: how often would chance alone make a difference as large?

If nothing changed, before and after may be swapped in every case, which flips the sign of its
difference. The p-value is the share of all ways to flip that give a mean at least as far from zero.
Where all differences have the same size, as with pass and fail, this is McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from carob.analysis.distributions import heads_at_most, optional

EXACT = 16
"""Differences up to which all ways are tried; more are drawn at random."""
FLIPS = 9_999
SEED = 20_170_417
"""Fixed, so that the same runs always give the same p-value."""
DRAWN = 1_000
"""The largest differences, which are flipped one by one. The sum of the others, of which each
counts for little, is normal."""
_ROWS = 1_000
_ROUNDING = 1e-9


def sign_flip(differences: Sequence[float]) -> float:
    """The two-sided p-value of paired differences; cases without a difference play no part."""
    np = optional("numpy")
    signed = np.array(differences)
    sizes = np.sort(np.abs(signed[signed != 0]))[::-1]
    if not len(sizes):
        return 1.0
    if sizes[0] - sizes[-1] <= _ROUNDING * sizes[0]:
        return mcnemar(int((signed > 0).sum()), int((signed < 0).sum()))
    seen = abs(fsum(differences)) - _ROUNDING * sizes.sum()
    return _all_ways(sizes, seen) if len(sizes) <= EXACT else _drawn(sizes, seen)


def mcnemar(fixed: int, broke: int) -> float:
    """The exact two-sided p-value of pairs that went one way or the other."""
    return min(1.0, 2 * heads_at_most(min(fixed, broke), fixed + broke)) if fixed + broke else 1.0


def _all_ways(sizes: Any, seen: float) -> float:
    np = optional("numpy")
    ways = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
    sums = (2 * ways - 1) @ sizes
    return float(np.mean(np.abs(sums) >= seen))


def _drawn(sizes: Any, seen: float) -> float:
    """The way that was seen is one of them, so that the p-value is never too small."""
    np = optional("numpy")
    source = np.random.RandomState(SEED)  # unlike newer generators, frozen for all versions
    large, rest = sizes[:DRAWN], (sizes[DRAWN:] ** 2).sum() ** 0.5
    whole, width = large.sum(), -(-len(large) // 8)
    hits = 0
    for start in range(0, FLIPS, _ROWS):
        rows = min(_ROWS, FLIPS - start)
        raw = np.frombuffer(source.bytes(rows * width), np.uint8).reshape(rows, width)
        kept = np.unpackbits(raw, axis=1, count=len(large)).astype(float)
        sums = 2 * (kept @ large) - whole + rest * source.standard_normal(rows)
        hits += int(np.count_nonzero(np.abs(sums) >= seen))
    return (hits + 1) / (FLIPS + 1)
