"""Sessions: conversations as they arrive from live agents."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct
from carob.schema.dataset import Case
from carob.schema.problem import Problem
from carob.schema.run import Run, UnmatchedTrace
from carob.schema.trace import Trace

SessionState = Literal["open", "complete"]


class Session(Struct, frozen=True, omit_defaults=False):
    """A conversation of a live agent, as the index knows it without reading its spans."""

    id: str
    state: SessionState
    agent: str | None
    started_at: str | None
    updated_at: str
    """When the last span arrived."""
    spans: int
    turns: int | None
    """`None`, as the next two, if its spans have not been read yet."""
    tools: int | None
    """Tool calls."""
    first_message: str | None
    """The start of the user's first message; `None` also if it was not recorded."""
    kept: bool
    """Whether it is never removed to make room: it became golden data or has a label."""


class SessionPage(Struct, frozen=True, omit_defaults=False):
    """A page of sessions, the one that changed last first."""

    items: tuple[Session, ...]
    next: str | None
    """Where the next page starts; `None` on the last."""
    total: int | None = None
    """How many there are in all; only on the first page."""


class SessionDetail(Struct, frozen=True, omit_defaults=False):
    """A session, the trace that its spans make, and the metrics that the trace supports."""

    session: Session
    trace: Trace | None
    """`None` if no agent was at work in its spans."""
    supports: dict[str, str | None]
    """By metric: the reason why not, or `None` if it is supported."""
    hints: tuple[str, ...]
    """How to record what is missing."""
    problems: tuple[Problem, ...]


class SessionSupport(Struct, frozen=True, omit_defaults=False):
    """How many metrics can score a session, and the setting that is missing for the most others."""

    metrics: int
    total: int
    setting: str | None
    """How to record what the largest number of metrics lacks; `None` if nothing is missing."""


class SessionCounts(Struct, frozen=True, omit_defaults=False):
    """The turns that have arrived so far."""

    sessions: int
    open: int
    spans: int


class CapturedCase(Struct, frozen=True, omit_defaults=False):
    """The golden case that a session becomes."""

    case: Case
    problems: tuple[Problem, ...]
    """Missing fields, and texts that look like personal data or a secret."""
    is_duplicate: bool = False
    """Whether the dataset has the same case already, so that nothing was added."""


class SessionEvaluation(Struct, frozen=True, omit_defaults=False):
    """A run over sessions, and the sessions that are not part of it."""

    run: Run
    unmatched: tuple[UnmatchedTrace, ...]
    """The sessions that match no case of the dataset, and why."""
