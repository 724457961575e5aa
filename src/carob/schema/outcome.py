"""The three outcomes of a metric. They are different things and never stand in for each other."""

from __future__ import annotations

from carob.schema.noun import Json, Noun


class Score(Noun, frozen=True, tag="score"):
    """A number on the metric's declared scale, and why."""

    value: float
    reason: str = ""
    turns: tuple[float | None, ...] = ()
    details: dict[str, Json] = {}


class Unscored(Noun, frozen=True, tag="unscored"):
    """The metric does not apply here, and why."""

    reason: str


class Failed(Noun, frozen=True, tag="failed"):
    """The metric broke, and how."""

    kind: str
    message: str
