"""A run: the outcomes of one evaluation, with the fingerprints of all that made them."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from carob.schema.judging import Asked, JudgeUse, Spending
from carob.schema.modes import ModeComparison
from carob.schema.noun import Json, Noun
from carob.schema.scale import Scale

Status = Literal["passed", "failed", "unscored", "error"]
ScoreStatus = Literal["passed", "failed", "unscored", "error", "info"]
Verdict = Literal["passed", "failed", "inconclusive"]


class MetricUse(Noun, frozen=True, omit_defaults=False):
    """A metric as it was used in a run."""

    name: str
    version: int
    params: dict[str, Json]
    threshold: float | None
    scale: Scale
    better: Literal["higher", "lower"]
    judge: JudgeUse | UnsetType = UNSET
    """Who was asked, if it is a judge."""


class CaseScore(Noun, frozen=True, omit_defaults=False):
    """What one metric said of one pair of case and trace."""

    metric: str
    status: ScoreStatus
    value: float | None = None
    threshold: float | None = None
    reason: str = ""
    turns: tuple[float | None, ...] = ()
    details: dict[str, Json] = {}
    asked: Asked | UnsetType = UNSET
    """What it took, if a judge was asked."""


class Judgement(Noun, frozen=True, omit_defaults=False):
    """The verdict of a scoring profile on one pair."""

    profile: str
    composite: float | None
    passed: bool
    reason: str


class Exchange(Noun, frozen=True, omit_defaults=False):
    """What was expected in a turn, and what came."""

    user: str | None
    expected: str | None
    actual: str | None


class CaseResult(Noun, frozen=True, omit_defaults=False):
    """The outcomes of one pair. `case` is `None` if there is no golden data, `trace` if nothing was
    recorded for the case."""

    case: str | None
    trace: str | None
    status: Status
    scores: tuple[CaseScore, ...] = ()
    paired_by: str = ""
    """How the trace was found to belong to the case."""
    judgement: Judgement | None = None
    exchanges: tuple[Exchange, ...] = ()
    """The turns, if the pair did not pass."""
    digest: str | None = None
    """The fingerprint of what the case asks and expects."""
    mapper: str | None = None
    """What turned the recording into the trace, with its version."""


class Unmatched(Noun, frozen=True, omit_defaults=False):
    """A trace that belongs to no case, and why."""

    trace: str
    why: str


class RunDataset(Noun, frozen=True, omit_defaults=False):
    """The golden data of a run."""

    name: str
    version: str | None
    digest: str
    format: str | None


class CaseCounts(Noun, frozen=True, omit_defaults=False):
    total: int = 0
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    errors: int = 0


class MetricSummary(Noun, frozen=True, omit_defaults=False):
    """What a metric said over all pairs; the numbers are `None` if it scored none."""

    mean: float | None = None
    min: float | None = None
    p50: float | None = None
    p95: float | None = None
    max: float | None = None
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    errors: int = 0


class Group(Noun, frozen=True, omit_defaults=False):
    """The pairs that have a property in common, such as an agent or a tag."""

    by: str
    value: str
    cases: CaseCounts
    means: dict[str, float]
    """The mean of each metric that scored."""
    composite: float | None = None
    """The mean of the composites, if a profile judged."""


class RunSummary(Noun, frozen=True, omit_defaults=False):
    cases: CaseCounts
    metrics: dict[str, MetricSummary]
    groups: tuple[Group, ...] = ()
    composite: float | None = None
    """The mean of the composites, if a profile judged."""
    modes: tuple[ModeComparison, ...] = ()


class Run(Noun, frozen=True, kw_only=True, omit_defaults=False):
    """The outcomes of one evaluation."""

    schema: str = "carob.run/1"
    id: str
    created_at: str
    verdict: Verdict
    dataset: RunDataset | None
    metrics: tuple[MetricUse, ...]
    cases: tuple[CaseResult, ...]
    summary: RunSummary
    unmatched: tuple[Unmatched, ...] = ()
    spending: dict[str, Spending] | UnsetType = UNSET
    """What judges were asked in this very run, by metric. Like the time, it is not part of the id:
    made again from the cache, a run is the same run for nothing."""
    stopped: str | UnsetType = UNSET
    """Why judges were not asked to the end."""
