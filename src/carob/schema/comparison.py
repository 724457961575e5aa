"""Comparison of two runs: differences, their significance, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from carob.schema.base import Json, Struct
from carob.schema.notebook import html_table
from carob.schema.run import RunDataset, Status

Conclusion = Literal["regressed", "improved", "equivalent", "inconclusive"]
Interval = tuple[float, float]
Adjustment = Literal["westfall-young", "holm"]


class ComparedRun(Struct, frozen=True, omit_defaults=False):
    """The identity of a compared run."""

    id: str
    created_at: str
    dataset: RunDataset | None


class Alignment(Struct, frozen=True, omit_defaults=False):
    """The cases of both runs, by id and by the fingerprint of question and expectations."""

    same: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Cases in both runs with different fingerprints; their scores are not compared."""


class InputChange(Struct, frozen=True, omit_defaults=False):
    """A difference between the runs other than the agent."""

    what: Literal["dataset", "metric", "mapper", "profile", "target", "attempts"]
    name: str
    field: str
    before: Json
    after: Json
    effect: str
    """The effect on the comparison."""


class Mean(Struct, frozen=True, omit_defaults=False):
    """A mean over cases with its confidence interval."""

    value: float
    interval: Interval | None
    """`None` if there is only one case."""


class Difference(Struct, frozen=True, omit_defaults=False):
    """The mean of after minus before over cases, with its uncertainty."""

    value: float
    interval: Interval
    """The confidence interval at level 1 - alpha."""
    equivalence_interval: Interval
    """The confidence interval at level 1 - 2 alpha; within the margin, the runs are equivalent."""
    margin: float
    """The largest difference that does not matter, in the units of the metric."""
    p: float
    """The p-value."""
    adjusted_p: float
    """The p-value adjusted for multiple testing."""
    detectable: float | None
    """The smallest difference that is detected with 80% power; `None` if there is none."""
    needed: int | None
    """The number of cases needed for a conclusion; `None` if there is one, or none is possible."""


class PassCounts(Struct, frozen=True, omit_defaults=False):
    """Pass rates before and after, and the cases that flipped."""

    before: float
    after: float
    broke: int
    fixed: int
    p: float
    """From McNemar's exact test, or from the sign-flip test if cases were repeated."""


class MetricComparison(Struct, frozen=True, omit_defaults=False):
    """One metric in two runs, over the cases scored in both."""

    name: str
    deciding: bool = msgspec.field(name="held")
    """Whether it may fail a gate. Metrics without a threshold are informational."""
    better: Literal["higher", "lower"]
    verdict: Conclusion
    sentence: str
    cases: int
    before: Mean | None
    after: Mean | None
    difference: Difference | None
    passes: PassCounts | None = None
    lost: tuple[str, ...] = ()
    """Cases scored only before."""
    gained: tuple[str, ...] = ()
    """Cases scored only after."""


class FlippedScore(Struct, frozen=True, omit_defaults=False):
    """The scores of a case that flipped."""

    metric: str
    before: float | None
    after: float | None
    reason: str
    """The reason of the run in which the case failed."""


class FlippedTurn(Struct, frozen=True, omit_defaults=False):
    """A turn of a case that flipped. Runs keep only the answers of pairs that did not pass."""

    user: str | None
    expected: str | None
    before: str | None
    after: str | None


class Flip(Struct, frozen=True, omit_defaults=False):
    """A case of which most attempts passed in one run only."""

    case: str
    kind: Literal["broke", "fixed"]
    before: Status
    after: Status
    scores: tuple[FlippedScore, ...]
    turns: tuple[FlippedTurn, ...]


class AttemptCounts(Struct, frozen=True, omit_defaults=False):
    """The attempts at a case that have a verdict, and how many of them passed."""

    passed: int
    total: int


class FlakyCase(Struct, frozen=True, omit_defaults=False):
    """A case whose attempts in one run have different verdicts."""

    case: str
    before: AttemptCounts
    after: AttemptCounts


class Reliability(Struct, frozen=True, omit_defaults=False):
    """pass@k and pass^k, over the cases with at least `k` attempts in both runs."""

    k: int
    cases: int
    any_passes: tuple[float, float]
    """pass@k before and after: at least one of `k` attempts passes."""
    all_pass: tuple[float, float]
    """pass^k before and after: all of `k` attempts pass."""


class Comparison(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The comparison of two runs."""

    schema: str = "carob.comparison/1"
    before: ComparedRun
    after: ComparedRun
    alpha: float
    adjustment: Adjustment
    """How p-values were adjusted for the number of metrics."""
    verdict: Conclusion
    sentence: str
    cases: Alignment
    changed_inputs: tuple[InputChange, ...] = msgspec.field(name="moved")
    overall: MetricComparison | None
    """The pass rate; `None` if the runs have different pass criteria."""
    metrics: tuple[MetricComparison, ...]
    flips: Sequence[Flip]
    """Many of them are made from the runs while they are iterated."""
    flaky: tuple[FlakyCase, ...]
    reliability: tuple[Reliability, ...]
    """Empty if no case was repeated."""

    def __post_init__(self) -> None:
        if isinstance(self.flips, list):  # decoded
            msgspec.structs.force_setattr(self, "flips", tuple(self.flips))

    def __repr__(self) -> str:
        return f"<Comparison {self._describe()}>"

    def _repr_html_(self) -> str:
        columns = ("metric", "cases", "before", "after", "difference", "adjusted p", "verdict")
        metrics = ((self.overall,) if self.overall else ()) + self.metrics
        return html_table(self._describe(), columns, [_table_row(metric) for metric in metrics])

    def _describe(self) -> str:
        return f"{self.before.id} → {self.after.id}: {self.verdict} ({self.sentence})"


def _table_row(metric: MetricComparison) -> tuple[object, ...]:
    before, after, difference = metric.before, metric.after, metric.difference
    return (
        metric.name,
        metric.cases,
        before.value if before else None,
        after.value if after else None,
        difference.value if difference else None,
        difference.adjusted_p if difference else None,
        metric.verdict,
    )
