"""The paired permutation test.

If nothing changed, before and after may be swapped in every case, which flips the sign of its
difference. The p-value is the share of sign combinations with a mean at least as far from zero.
Where all differences have the same size, as with pass and fail, this is McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from carob.analysis.distributions import fair_coin_cdf, import_optional

EXACT = 16
"""Up to this many differences all sign combinations are tried; beyond, they are sampled."""
FLIPS = 9_999
SEED = 20_170_417
"""Fixed, so that the same runs always give the same p-value."""
DRAWN = 1_000
"""The number of largest differences that are flipped individually. The sum of the others, each of
which counts for little, is approximately normal."""
_ROWS = 1_000
_ROUNDING = 1e-9


def sign_flip_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of paired differences; zero differences do not matter."""
    np = import_optional("numpy")
    signed = np.array(differences)
    sizes = np.sort(np.abs(signed[signed != 0]))[::-1]
    if not len(sizes):
        return 1.0
    if sizes[0] - sizes[-1] <= _ROUNDING * sizes[0]:
        return mcnemar(int((signed > 0).sum()), int((signed < 0).sum()))
    observed = abs(fsum(differences)) - _ROUNDING * sizes.sum()
    return _exact(sizes, observed) if len(sizes) <= EXACT else _sample_p_value(sizes, observed)


def mcnemar(fixed: int, broke: int) -> float:
    """McNemar's exact two-sided p-value."""
    return min(1.0, 2 * fair_coin_cdf(min(fixed, broke), fixed + broke)) if fixed + broke else 1.0


def _exact(sizes: Any, observed: float) -> float:
    np = import_optional("numpy")
    signs = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
    sums = (2 * signs - 1) @ sizes
    return float(np.mean(np.abs(sums) >= observed))


def _sample_p_value(sizes: Any, observed: float) -> float:
    """Count the observed combination as one of the sample, so that the p-value is never zero."""
    np = import_optional("numpy")
    # `default_rng` may give other numbers in another version of numpy; `RandomState` is frozen.
    source = np.random.RandomState(SEED)
    large, rest = sizes[:DRAWN], (sizes[DRAWN:] ** 2).sum() ** 0.5
    total, width = large.sum(), -(-len(large) // 8)
    hits = 0
    for start in range(0, FLIPS, _ROWS):
        rows = min(_ROWS, FLIPS - start)
        raw = np.frombuffer(source.bytes(rows * width), np.uint8).reshape(rows, width)
        positive = np.unpackbits(raw, axis=1, count=len(large)).astype(float)
        sums = 2 * (positive @ large) - total + rest * source.standard_normal(rows)
        hits += int(np.count_nonzero(np.abs(sums) >= observed))
    return (hits + 1) / (FLIPS + 1)
