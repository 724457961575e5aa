"""Runs that a server makes in the background, and the traces that were uploaded for them."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct
from carob.schema.problem import Problem
from carob.schema.run import CaseCounts, Verdict

JobStage = Literal["asking", "scoring"]
JobState = Literal["waiting", "running", "done", "failed", "cancelled"]


class RunJob(Struct, frozen=True, omit_defaults=False):
    """A run in the making."""

    id: str
    state: JobState
    dataset: str
    done: int
    """How much is done of `total` in this stage."""
    total: int
    eta_s: float | None
    """Seconds until it is done, by the pace so far; `None` if there is none yet."""
    run: str | None
    """The id of the run, as soon as it is saved."""
    problems: tuple[Problem, ...]
    """Why it failed, and what is wrong with the traces."""
    cases: CaseCounts | None = None
    """How the cases came out, when it is done."""
    target: str | None = None
    """The live agent that is asked, by its name in the server's `carob.toml`."""
    stage: JobStage = "scoring"
    """The unit of the counts: finished conversations with the live agent, or what is scored."""
    passed: int = 0
    """Cases that passed so far. Those without a trace are counted when it is done."""
    failed: int = 0
    unscored: int = 0
    errors: int = 0
    failed_conversations: int = 0
    """Conversations with the live agent that failed."""
    cost: float | None = None
    """What the live agent and a simulated user cost so far, in US dollars; `None` if unknown."""
    verdict: Verdict | None = None
    """The verdict of the run; `inconclusive` if it was cancelled or failed, `None` until it is
    over."""

    @property
    def is_over(self) -> bool:
        """Whether the state cannot change any more."""
        return self.state in ("done", "failed", "cancelled")


def status_fields(cases: CaseCounts) -> dict[str, object]:
    """Return the fields of a job that say how its cases came out."""
    return {name: getattr(cases, name) for name in ("passed", "failed", "unscored", "errors")}


class TraceUpload(Struct, frozen=True, omit_defaults=False):
    """A file of traces that was uploaded."""

    id: str
    file: str
    bytes: int
