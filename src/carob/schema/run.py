"""A run: the outcomes of one evaluation, with the fingerprints of everything that produced them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from carob.schema.base import Json, Struct
from carob.schema.dataset import CaseSelection
from carob.schema.judge import JudgeCost, JudgeSpec, JudgeUsage
from carob.schema.notebook import html_table
from carob.schema.outcome import Scale
from carob.schema.target import RunTarget


class PairedMetric(Struct, frozen=True, omit_defaults=False):
    """A metric in two modes, over the scenarios scored in both."""

    pairs: int
    means: tuple[float, float]
    difference: float
    """Mean of second minus first."""
    first_higher: int
    second_higher: int
    equal: int


class ModeComparison(Struct, frozen=True, omit_defaults=False):
    """Two workflow modes on the same scenarios and questions."""

    modes: tuple[str, str]
    pairs: int
    passed: tuple[int, int]
    """Scenarios in which every pair of case and trace passed."""
    composite: PairedMetric | None
    metrics: dict[str, PairedMetric]


Status = Literal["passed", "failed", "unscored", "error", "info"]
"""Of a score or of a case. `info` is not a verdict: no threshold and no profile decides."""
Verdict = Literal["passed", "failed", "inconclusive", "informational"]


class MetricSpec(Struct, frozen=True, omit_defaults=False):
    """A metric as it was used in a run."""

    name: str
    version: int
    params: dict[str, Json]
    threshold: float | None
    scale: Scale
    better: Literal["higher", "lower"]
    judge: JudgeSpec | UnsetType = UNSET
    """The judge, if the metric is one."""


class CaseScore(Struct, frozen=True, omit_defaults=False):
    """The outcome of one metric for one pair of case and trace."""

    metric: str
    status: Status
    value: float | None = None
    threshold: float | None = None
    reason: str = ""
    turns: tuple[float | None, ...] = ()
    details: dict[str, Json] = {}
    judge_cost: JudgeCost | UnsetType = msgspec.field(default=UNSET, name="asked")
    """The cost of the score, if a judge was asked."""
    not_applicable: bool | UnsetType = UNSET
    """True if the metric is unscored because the case asks nothing of it. Other unscored metrics
    could not be scored, and hold the case back."""

    @property
    def could_not_be_scored(self) -> bool:
        """Whether the case asks for the metric and there is no score."""
        return self.status == "unscored" and self.not_applicable is not True


class ProfileVerdict(Struct, frozen=True, omit_defaults=False):
    """The verdict of a scoring profile on one pair."""

    profile: str
    composite: float | None
    passed: bool
    reason: str


class Exchange(Struct, frozen=True, omit_defaults=False):
    """The expected and the actual response of a turn."""

    user: str | None
    expected: str | None
    actual: str | None


class CaseResult(Struct, frozen=True, omit_defaults=False):
    """The outcomes of one pair. `case` is `None` without golden data, `trace` if the case has no
    trace."""

    case: str | None
    trace: str | None
    status: Status
    scores: tuple[CaseScore, ...] = ()
    paired_by: str = ""
    """How the trace was paired with the case."""
    judgement: ProfileVerdict | None = None
    exchanges: tuple[Exchange, ...] = ()
    """The turns, if the pair did not pass."""
    digest: str | None = None
    """The fingerprint of the question and expectations of the case."""
    mapper: str | None = None
    """The mapping that produced the trace, with its version."""


class UnmatchedTrace(Struct, frozen=True, omit_defaults=False):
    """A trace without a case, and why."""

    trace: str
    why: str


class RunDataset(Struct, frozen=True, omit_defaults=False):
    """The golden data of a run."""

    name: str
    version: str | None
    digest: str
    format: str | None


class CaseCounts(Struct, frozen=True, omit_defaults=False):
    """Numbers of cases by status. Informational ones count in the total only."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    errors: int = 0


class MetricSummary(Struct, frozen=True, omit_defaults=False):
    """The distribution of a metric over all pairs; the numbers are `None` if it scored none."""

    mean: float | None = None
    min: float | None = None
    p50: float | None = None
    p95: float | None = None
    max: float | None = None
    passed: int = 0
    failed: int = 0
    unscored: int = 0
    errors: int = 0


class SummaryGroup(Struct, frozen=True, omit_defaults=False):
    """The pairs with a common property, such as an agent or a tag."""

    by: str
    value: str
    cases: CaseCounts
    means: dict[str, float]
    """The mean of each metric that scored."""
    composite: float | None = None
    """The mean of the composites, if a profile judged."""


class AttemptRate(Struct, frozen=True, omit_defaults=False):
    """pass@k and pass^k over the cases with at least `k` decided attempts, as unbiased
    estimates."""

    k: int
    cases: int
    any_passes: float
    """pass@k: the chance that at least one of `k` attempts passes."""
    all_pass: float
    """pass^k: the chance that all of `k` attempts pass."""


class AttemptSummary(Struct, frozen=True, omit_defaults=False):
    """Repeated attempts at the same cases."""

    rates: tuple[AttemptRate, ...]
    flaky: dict[str, tuple[int, int]]
    """Cases of which some attempts passed and others failed: how many passed, of how many."""


class RunSummary(Struct, frozen=True, omit_defaults=False):
    cases: CaseCounts
    metrics: dict[str, MetricSummary]
    groups: tuple[SummaryGroup, ...] = ()
    composite: float | None = None
    """The mean of the composites, if a profile judged."""
    modes: tuple[ModeComparison, ...] = ()
    attempts: AttemptSummary | UnsetType = UNSET
    """Repeated attempts, if any case has several."""


class Run(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The outcomes of one evaluation."""

    schema: str = "carob.run/1"
    id: str
    created_at: str
    verdict: Verdict
    dataset: RunDataset | None
    metrics: tuple[MetricSpec, ...]
    cases: Sequence[CaseResult]
    """In the order of the dataset. Those of a large run are read from a file while they are
    iterated."""
    summary: RunSummary
    unmatched: tuple[UnmatchedTrace, ...] = ()
    spending: dict[str, JudgeUsage] | UnsetType = UNSET
    """The judge usage of this run, by metric. Like the time, it is not part of the id: repeated
    from the cache, a run costs nothing and has the same id."""
    stopped: str | UnsetType = UNSET
    """Why judging, or a live run, stopped early."""
    selection: CaseSelection | UnsetType = UNSET
    """How cases were selected, if not all were evaluated. `dataset` is always the whole dataset."""
    target: RunTarget | UnsetType = UNSET
    """The live agent, if the traces were recorded by this run."""

    def __post_init__(self) -> None:
        if isinstance(self.cases, list):  # decoded
            msgspec.structs.force_setattr(self, "cases", tuple(self.cases))

    @property
    def pass_rate(self) -> float | None:
        """The share of the cases that passed, 0 to 1; `None` if no metric decides cases."""
        counts = self.summary.cases
        decided = counts.passed + counts.failed + counts.unscored + counts.errors
        return counts.passed / decided if decided else None

    def __repr__(self) -> str:
        return f"<Run {self._describe()}>"

    def _repr_html_(self) -> str:
        columns = ("metric", "mean", "min", "max", "passed", "failed", "unscored", "errors")
        rows = [
            (name, *(getattr(metric, column) for column in columns[1:]))
            for name, metric in self.summary.metrics.items()
        ]
        return html_table(self._describe(), columns, rows)

    def _describe(self) -> str:
        counts = self.summary.cases
        names = ("passed", "failed", "unscored", "errors")
        parts = [f"{number} {name}" for name in names if (number := getattr(counts, name))]
        dataset = f" of {self.dataset.name}" if self.dataset else ""
        return f"{self.id}{dataset}: {self.verdict} ({', '.join(parts) or 'no cases'})"


class PolicyReport(Struct, frozen=True):
    """The verdicts of scoring profiles on existing scores."""

    cases: tuple[CaseResult, ...]
    profiles: dict[str, RunSummary]
    """A summary of the cases of each profile."""
