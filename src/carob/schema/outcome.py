"""The three outcomes of a metric. They are different things and never stand in for each other."""

from __future__ import annotations

from math import inf
from typing import Literal, TypeAlias

from carob.errors import UsageError
from carob.schema.base import Json, Struct

Scale: TypeAlias = tuple[float, float | None]


def check_threshold(name: str, threshold: float, scale: Scale) -> None:
    """A threshold off the scale would fail, or pass, whatever the agent does."""
    low, high = scale
    if low <= threshold <= (inf if high is None else high):
        return
    expected = f"from {low:g} on" if high is None else f"from {low:g} to {high:g}"
    raise UsageError(
        f"metric {name!r}: the threshold is {threshold:g}, expected a number {expected}"
    )


class Score(Struct, frozen=True, tag="score"):
    """A number on the metric's declared scale, and why."""

    value: float
    reason: str = ""
    turns: tuple[float | None, ...] = ()
    details: dict[str, Json] = {}


class Unscored(Struct, frozen=True, tag="unscored"):
    """The metric does not apply here, and why."""

    reason: str


class Failed(Struct, frozen=True, tag="failed"):
    """The metric broke, and how."""

    kind: str
    message: str


class MetricInfo(Struct, frozen=True, omit_defaults=False):
    """A metric that is installed: what it means, what it needs, and on which scale it speaks."""

    name: str
    version: int
    meaning: str
    """The first sentence of its description."""
    description: str
    needs: tuple[str, ...]
    scale: Scale
    better: Literal["higher", "lower"]
    threshold: float | None
    """The default one; `None` for a metric that informs."""
    judged: bool
    params: dict[str, Json]
    """The parameters and their defaults."""
    packages: tuple[str, ...]
    """Optional packages that it needs."""
