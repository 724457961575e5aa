"""Two runs side by side: what differs, whether that is real, and what cannot be compared."""

from __future__ import annotations

from typing import Literal

import msgspec

from carob.schema.base import Json, Struct
from carob.schema.run import RunDataset, Status

Conclusion = Literal["regressed", "improved", "equivalent", "inconclusive"]
Interval = tuple[float, float]
Adjustment = Literal["westfall-young", "holm"]


class ComparedRun(Struct, frozen=True, omit_defaults=False):
    """A run, by what tells it from others."""

    id: str
    created_at: str
    dataset: RunDataset | None


class Alignment(Struct, frozen=True, omit_defaults=False):
    """The cases of both runs, by id and by the fingerprint of what they ask and expect."""

    same: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """In both runs, and not known to be the same; their scores are not compared."""


class InputChange(Struct, frozen=True, omit_defaults=False):
    """Something other than the agent that is not the same in both runs."""

    what: Literal["dataset", "metric", "mapper", "profile"]
    name: str
    field: str
    before: Json
    after: Json
    effect: str
    """What the comparison does about it."""


class Mean(Struct, frozen=True, omit_defaults=False):
    """A mean over cases, and the interval that holds the true one."""

    value: float
    interval: Interval | None
    """`None` if there is only one case."""


class Difference(Struct, frozen=True, omit_defaults=False):
    """The mean over cases of after minus before, and how far it can be trusted."""

    value: float
    interval: Interval
    """At the confidence of one minus alpha."""
    equivalence_interval: Interval
    """At one minus twice alpha: within the margin, the runs are equivalent."""
    margin: float
    """The largest difference that does not matter, in the units of the metric."""
    p: float
    """How often chance alone makes a difference as large."""
    adjusted_p: float
    """The same, corrected for the number of tests."""
    detectable: float | None
    """The smallest difference that so many cases show four times in five; `None` if they cannot
    show any."""
    needed: int | None
    """Cases that a conclusion would take; `None` where there is one, or none to be had."""


class PassCounts(Struct, frozen=True, omit_defaults=False):
    """Cases that passed, before and after."""

    before: float
    after: float
    broke: int
    fixed: int
    p: float
    """By McNemar's exact test; by the signs of the differences if cases were repeated."""


class MetricComparison(Struct, frozen=True, omit_defaults=False):
    """One metric in two runs, over the cases that were scored in both."""

    name: str
    deciding: bool = msgspec.field(name="held")
    """May it fail a gate? Metrics without a threshold inform."""
    better: Literal["higher", "lower"]
    verdict: Conclusion
    sentence: str
    cases: int
    before: Mean | None
    after: Mean | None
    difference: Difference | None
    passes: PassCounts | None = None
    lost: tuple[str, ...] = ()
    """Cases that were scored only before."""
    gained: tuple[str, ...] = ()
    """Cases that were scored only after."""


class FlippedScore(Struct, frozen=True, omit_defaults=False):
    """What a metric said of a case that flipped."""

    metric: str
    before: float | None
    after: float | None
    reason: str
    """Of the side that did not pass."""


class FlippedTurn(Struct, frozen=True, omit_defaults=False):
    """A turn of a case that flipped. Runs keep only the answers of pairs that did not pass."""

    user: str | None
    expected: str | None
    before: str | None
    after: str | None


class Flip(Struct, frozen=True, omit_defaults=False):
    """A case of which most attempts passed in one run, and not in the other."""

    case: str
    kind: Literal["broke", "fixed"]
    before: Status
    after: Status
    scores: tuple[FlippedScore, ...]
    turns: tuple[FlippedTurn, ...]


class AttemptCounts(Struct, frozen=True, omit_defaults=False):
    """How many attempts at a case passed, of those that passed or failed."""

    passed: int
    total: int


class FlakyCase(Struct, frozen=True, omit_defaults=False):
    """A case whose attempts in one run did not all end the same way."""

    case: str
    before: AttemptCounts
    after: AttemptCounts


class Reliability(Struct, frozen=True, omit_defaults=False):
    """What `k` attempts at a case are worth, over the cases with at least as many on both sides."""

    k: int
    cases: int
    any_passes: tuple[float, float]
    """pass@k before and after: at least one of `k` attempts passes."""
    all_pass: tuple[float, float]
    """pass^k before and after: all of `k` attempts pass."""


class Comparison(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Is the difference between two runs real?"""

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
    """The pass rate; `None` if what makes a case pass is not the same in both runs."""
    metrics: tuple[MetricComparison, ...]
    flips: tuple[Flip, ...]
    flaky: tuple[FlakyCase, ...]
    reliability: tuple[Reliability, ...]
    """Empty if no case was repeated."""
