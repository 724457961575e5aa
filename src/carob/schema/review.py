"""Review queues: people label answers that a metric has scored, to see how far to trust it."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct
from carob.schema.calibration import Statistic
from carob.schema.run import CaseScore
from carob.schema.trace import ToolCall

ReviewLabel = Literal["passed", "failed", "unsure"]
"""`unsure` is kept, but decides nothing."""


class ReviewQueue(Struct, frozen=True, omit_defaults=False):
    """The answers of a run that one metric has scored, and how far people agree with it."""

    id: str
    run: str
    metric: str
    created_at: str
    items: int
    labelled: int
    """Items that somebody has decided."""
    kappa: Statistic | None
    """Cohen's kappa between people and metric; `None` before both verdicts were given."""
    required: float
    """What the lower bound of kappa must reach before the metric may gate."""
    is_calibrated: bool
    """Whether it does."""
    missing: int | None
    """About how many labels are missing until then, if people go on to agree as they do now;
    `None` if more labels of this kind would not help, or it is not known yet."""


class ItemLabel(Struct, frozen=True, omit_defaults=False):
    """What a person said about an item."""

    by: str
    label: ReviewLabel
    note: str
    at: str


class ReviewTurn(Struct, frozen=True, omit_defaults=False):
    """A turn to look at: what was expected, and what the agent did."""

    user: str | None
    expected: str | None
    actual: str | None
    expected_calls: tuple[ToolCall, ...] | None = None
    """`None` if the golden case does not state any, or is not known."""
    actual_calls: tuple[ToolCall, ...] | None = None
    """`None` if none were recorded."""


class ReviewItem(Struct, frozen=True, omit_defaults=False):
    """An answer to look at."""

    id: int
    """The position of the case in the run."""
    number: int
    """The position in the queue, from 1."""
    items: int
    """How many there are: in the queue, or selected."""
    case: str
    trace: str | None
    turns: tuple[ReviewTurn, ...]
    has_golden: bool
    """Whether its golden case is known, and can be approved."""
    own: ItemLabel | None
    """What the person who asks has said."""
    score: CaseScore | None
    """What the metric says; hidden (`None`) until the person has decided."""
    previous: int | None
    next: int | None
    """The neighbours in the queue."""
    open: int | None
    """The next item that this person has not decided; `None` if nothing waits."""
