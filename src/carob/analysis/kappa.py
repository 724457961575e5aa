"""Cohen's kappa with its confidence interval.

With two categories it is the unweighted kappa, with more the quadratically weighted one: two levels
apart counts four times as much as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from carob.analysis.distributions import import_optional
from carob.schema import Statistic

LEVEL = 0.95
_DRAWS = 50_000
"""Enough that another seed moves the bounds of an interval by about 0.01 at most."""
_FEW_DRAWS = 4_000
"""Enough for an estimate of how many labels are missing."""
_MOST_LABELS = 10_000
_SEED = 20
_DIGITS = 6
"""More than the draws resolve, and few enough to be the same on every machine."""

CountTable = Sequence[Sequence[float]]
"""Counts of cases: rows are the categories of one rater, columns those of the other."""


class AgreementMeasures(NamedTuple):
    """The share of equal ratings, and kappa; `None` if one rater used a single category."""

    share: Statistic
    kappa: Statistic | None


def measure_agreement(table: CountTable, draws: int = _DRAWS) -> AgreementMeasures:
    """The share of equal ratings and kappa, with intervals from draws of the table's posterior.

    The intervals include the observed value. Otherwise perfect agreement on ten cases, an estimate
    of 1, would lie above the upper bound of its own interval.
    """
    np = import_optional("numpy")
    observed = np.asarray(table, dtype=float)
    drawn = _draw_tables(np, observed, draws)
    has_kappa = np.count_nonzero(observed.sum(1)) > 1
    return AgreementMeasures(
        _statistic(np, _share(np, observed), _share(np, drawn)),
        _statistic(np, kappa(observed), kappa(drawn)) if has_kappa else None,
    )


def labels_until(table: CountTable, minimum: float) -> int | None:
    """About how many labels are missing until the lower bound of kappa reaches a minimum, if they
    go on to agree as they do now; `None` if even ten thousand would not do."""
    np = import_optional("numpy")
    observed = np.asarray(table, dtype=float)
    number = float(observed.sum())

    def reaches(total: int) -> bool:
        measured = measure_agreement(observed * (total / number), _FEW_DRAWS).kappa
        return measured is not None and measured.interval[0] >= minimum

    low, high = int(number), _MOST_LABELS
    if not reaches(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high - int(number)


def kappa(tables: Any) -> Any:
    """One minus the ratio of observed to expected disagreement, for one table or many."""
    np = import_optional("numpy")
    levels = np.arange(tables.shape[-1])
    weights = (levels[:, None] - levels) ** 2
    total = tables.sum((-1, -2))
    rows, columns = tables.sum(-1), tables.sum(-2)
    expected = np.einsum("ij,...i,...j->...", weights, rows, columns) / total
    return 1 - np.einsum("ij,...ij->...", weights, tables) / expected


def _draw_tables(np: Any, observed: Any, draws: int) -> Any:
    """Draw tables from the posterior of the observed one.

    The prior of two categories is Jeffreys', half a case per cell. With five levels that would be
    12.5 cases, which outweigh thirty labels; there one case is spread over all cells.
    """
    size = len(observed)
    prior = 0.5 if size == 2 else 1 / size**2
    return np.random.default_rng(_SEED).standard_gamma(observed + prior, (draws, size, size))


def _share(np: Any, tables: Any) -> Any:
    return np.einsum("...ii->...", tables) / tables.sum((-1, -2))


def _statistic(np: Any, value: Any, drawn: Any) -> Statistic:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    ends = float(min(low, value)), float(max(high, value))
    return Statistic(
        value=round(float(value), _DIGITS),
        interval=(round(ends[0], _DIGITS), round(ends[1], _DIGITS)),
    )
