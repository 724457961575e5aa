"""Cohen's kappa: how much of an agreement is more than chance, and how far that can be trusted.

With two categories it is the plain kappa, with more the one with squared weights: two levels apart
is four times as bad as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from carob.analysis.distributions import optional
from carob.schema import Measured

LEVEL = 0.95
_DRAWS = 50_000
"""So many that another seed would move the ends of an interval by about 0.01 at most."""
_SEED = 20
_DIGITS = 6
"""More than the draws can tell, and few enough to be the same on every machine."""

Table = Sequence[Sequence[float]]
"""Cases, a row for each category of the one and a column for each of the other."""


class Measures(NamedTuple):
    share: Measured
    kappa: Measured | None


def measures(table: Table, draws: int = _DRAWS) -> Measures:
    """How often both say the same, and kappa, with their intervals: of a table that is drawn from
    its posterior. They hold what was found, so that no disagreement among ten cases is an upper end
    of 1, and a lower end far from it."""
    np = optional("numpy")
    found = np.asarray(table, dtype=float)
    drawn = _drawn(np, found, draws)
    return Measures(
        _measured(np, _share(np, found), _share(np, drawn)),
        _measured(np, kappa(found), kappa(drawn)) if np.count_nonzero(found.sum(1)) > 1 else None,
    )


def kappa(tables: Any) -> Any:
    """One minus the disagreement that is there for each that chance alone would make; of a table,
    or of many."""
    np = optional("numpy")
    levels = np.arange(tables.shape[-1])
    apart = (levels[:, None] - levels) ** 2
    total = tables.sum((-1, -2))
    rows, columns = tables.sum(-1), tables.sum(-2)
    chance = np.einsum("ij,...i,...j->...", apart, rows, columns) / total
    return 1 - np.einsum("ij,...ij->...", apart, tables) / chance


def _drawn(np: Any, found: Any, draws: int) -> Any:
    """Tables that may be behind the one that was found. Before anything is seen, two categories
    have half a case in each cell, as Jeffreys has it. So much in each cell of more levels would
    outweigh the labels: there one case is spread over all."""
    size = len(found)
    prior = 0.5 if size == 2 else 1 / size**2
    return np.random.default_rng(_SEED).standard_gamma(found + prior, (draws, size, size))


def _share(np: Any, tables: Any) -> Any:
    return np.einsum("...ii->...", tables) / tables.sum((-1, -2))


def _measured(np: Any, value: Any, drawn: Any) -> Measured:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    ends = float(min(low, value)), float(max(high, value))
    return Measured(
        value=round(float(value), _DIGITS),
        interval=(round(ends[0], _DIGITS), round(ends[1], _DIGITS)),
    )
