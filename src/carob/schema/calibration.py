"""Calibration of a judge: its agreement with human labels."""

from __future__ import annotations

from typing import Literal, TypeAlias

from carob.schema.base import Struct
from carob.schema.comparison import Interval
from carob.schema.run import MetricSpec, RunDataset

LabelValue: TypeAlias = Literal["passed", "failed"] | float
"""A verdict, or a number on the scale of a metric."""


class Label(Struct, frozen=True, kw_only=True):
    """A human label of an agent's answer."""

    case: str
    label: LabelValue
    trace: str | None = None
    """The labelled trace; `None` if the case has only one."""
    metric: str | None = None
    """The labelled metric; `None` if there is only one."""
    by: str | None = None
    note: str | None = None
    where: str = ""
    """File and line."""


class Statistic(Struct, frozen=True, omit_defaults=False):
    """A value with its 95% confidence interval."""

    value: float
    interval: Interval


class ConfusionMatrix(Struct, frozen=True, omit_defaults=False):
    """Counts of cases: rows are human labels, columns the judge's. Attempts at a case share its
    weight of one."""

    categories: tuple[LabelValue, ...]
    counts: tuple[tuple[float, ...], ...]


class Agreement(Struct, frozen=True, omit_defaults=False):
    """The agreement of two raters, and how much of it exceeds chance."""

    kind: Literal["verdicts", "levels"]
    cases: int
    share: Statistic
    """The share of cases with equal ratings."""
    kappa: Statistic | None
    """Cohen's kappa, quadratically weighted for several levels; `None` if all human labels are the
    same."""
    confusion: ConfusionMatrix


class UnscoredLabels(Struct, frozen=True, omit_defaults=False):
    """Labelled cases that the judge did not score."""

    unscored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Cases or traces that are not in the run."""


class Disagreement(Struct, frozen=True, omit_defaults=False):
    """A case on which people and the judge disagree."""

    case: str
    trace: str | None
    human: LabelValue
    judge: LabelValue
    value: float
    """The judge's score before rounding or thresholding."""
    reason: str
    """The judge's reason."""
    note: str
    """The notes of the labels."""


class Calibration(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The agreement of a judge with people. It is valid only for this metric, its parameters and
    this judge."""

    schema: str = "carob.calibration/1"
    created_at: str
    metric: MetricSpec
    run: str
    """The run with the judge's scores."""
    dataset: RunDataset | None
    labels: str
    """The digest of the labels."""
    agreement: Agreement
    """The deciding agreement: on verdicts or on levels, as people labelled."""
    verdicts: Agreement | None
    """The agreement on verdicts in addition to levels, if the metric has a threshold."""
    people: Agreement | None
    """The agreement among people who labelled the same case, the upper limit for a judge."""
    bias: Statistic | None
    """The mean of judge minus human, if labels are numbers."""
    unjudged: UnscoredLabels
    undecided: tuple[str, ...]
    """Cases with tied labels."""
    disagreements: tuple[Disagreement, ...]
    """The worst first."""
    digest: str = ""
    """The digest of all other fields."""
