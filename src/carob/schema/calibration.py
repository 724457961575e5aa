"""A judge beside people: how far it may be trusted, and for what exactly that holds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from carob.schema.base import Struct
from carob.schema.comparison import Interval
from carob.schema.run import MetricSpec, RunDataset

LabelValue: TypeAlias = Literal["passed", "failed"] | float
"""A verdict, or a number on the scale of a metric."""


class Label(Struct, frozen=True, kw_only=True):
    """What a person thinks of an agent's answer."""

    case: str
    label: LabelValue
    trace: str | None = None
    """Which of the answers to the case; `None` if there is only one."""
    metric: str | None = None
    """What the answer was looked at for; `None` if there is only one metric."""
    by: str | None = None
    note: str | None = None
    where: str = ""
    """File and line."""


class Statistic(Struct, frozen=True, omit_defaults=False):
    """A number, and the interval that holds the true one with 95 % confidence."""

    value: float
    interval: Interval


class ConfusionMatrix(Struct, frozen=True, omit_defaults=False):
    """Who said what how often: a row for each opinion of people, a column for each of the judge.
    A case counts once; attempts at it share it."""

    categories: tuple[LabelValue, ...]
    counts: tuple[tuple[float, ...], ...]


class Agreement(Struct, frozen=True, omit_defaults=False):
    """How often two say the same, and how much of that is more than chance."""

    kind: Literal["verdicts", "levels"]
    cases: int
    share: Statistic
    """Of the cases in which both say the same."""
    kappa: Statistic | None
    """Cohen's, with squared weights where there are several levels; `None` if people gave all cases
    the same label, of which nothing follows."""
    confusion: ConfusionMatrix


class UnscoredLabels(Struct, frozen=True, omit_defaults=False):
    """Cases that people labelled and the judge did not score."""

    unscored: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Those of which the run has no such case or trace."""


class Disagreement(Struct, frozen=True, omit_defaults=False):
    """A case of which people and the judge do not think the same."""

    case: str
    trace: str | None
    human: LabelValue
    judge: LabelValue
    value: float
    """The judge's score, before it was rounded or held to the threshold."""
    reason: str
    """The judge's."""
    note: str
    """The people's."""


class Calibration(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """How well a judge agrees with people. It holds for this metric with these parameters, asked by
    this judge, and for no other."""

    schema: str = "carob.calibration/1"
    created_at: str
    metric: MetricSpec
    run: str
    """The run that has the judge's scores."""
    dataset: RunDataset | None
    labels: str
    """The digest of the labels."""
    agreement: Agreement
    """What decides: verdicts where people gave verdicts, levels where they gave levels."""
    verdicts: Agreement | None
    """Besides levels, if the metric has a threshold."""
    people: Agreement | None
    """Among people, where several labelled the same case: no judge can be held to more."""
    bias: Statistic | None
    """The mean of judge minus people, where people gave numbers."""
    unjudged: UnscoredLabels
    undecided: tuple[str, ...]
    """Cases of which as many people say the one as the other."""
    disagreements: tuple[Disagreement, ...]
    """The worst first."""
    digest: str = ""
    """Of all of the above as it is written."""
