"""A leaderboard: runs of the same cases, ranked."""

from __future__ import annotations

from carob.schema.base import Struct
from carob.schema.comparison import Interval


class RankedRun(Struct, frozen=True, omit_defaults=False):
    """One run of a leaderboard. All numbers are over the cases that every run shares."""

    rank: int
    """One more than the number of runs that are significantly better; runs may share a rank."""
    run: str
    name: str
    """What distinguishes the run: its labels, else its id."""
    value: float
    """The mean of the metric that ranks."""
    interval: Interval | None
    difference: float | None
    """To the best run; `None` for the best run itself."""
    difference_interval: Interval | None
    p: float | None
    """Of that difference, adjusted for all pairs of runs."""
    cost: float | None
    """Mean cost of a case in dollars; `None` if the run did not measure it."""
    latency: float | None
    """Mean latency of a case in milliseconds; `None` if the run did not measure it."""
    efficient: bool
    """Whether no other run is at least as good in value, cost and latency, and better in one."""


class SeparatingCase(Struct, frozen=True, omit_defaults=False):
    """A case on which the runs disagree."""

    case: str
    values: tuple[float | None, ...]
    """One number per run, in the order of the ranking."""
    spread: float


class Leaderboard(Struct, frozen=True, omit_defaults=False):
    """Runs ranked by one metric, best first."""

    metric: str
    better: str
    alpha: float
    cases: int
    """Cases that all runs share, with a number in each."""
    left_out: int
    """Cases that some run lacks, changed, or could not score."""
    runs: tuple[RankedRun, ...]
    separating: tuple[SeparatingCase, ...]
    """Cases on which the runs disagree, most first."""
    different_rules: tuple[str, ...] = ()
    """What decided pass rates in other ways in some of the runs: metrics with the fields that
    differ, and profiles."""
