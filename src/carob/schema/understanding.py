from __future__ import annotations

from carob.schema.conversion import Loss
from carob.schema.noun import Noun
from carob.schema.problem import Problem
from carob.schema.trace import Trace


class Understood(Noun, frozen=True):
    """A recording, and which metrics it can support."""

    trace: Trace
    supports: dict[str, str | None] = {}
    """By metric: why not; `None` if it can."""


class Understanding(Noun, frozen=True):
    """What was understood from some files of recordings."""

    traces: tuple[Understood, ...] = ()
    hints: dict[str, tuple[str, ...]] = {}
    """By the reason why a metric is not supported: how to make each framework record it."""
    problems: tuple[Problem, ...] = ()


class Captured(Noun, frozen=True, omit_defaults=False):
    """What became of recordings that were to be golden cases."""

    format: str
    cases: int
    left_out: int
    """Recordings that a filter left out."""
    duplicates: tuple[str, ...] = ()
    """Recordings that say the same as another one, which is a case."""
    problems: tuple[Problem, ...] = ()
    losses: tuple[Loss, ...] = ()
    """What the format has no place for, which is carried along."""
