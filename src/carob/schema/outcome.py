"""The three outcomes of a metric, its scale, and the description of an installed metric."""

from __future__ import annotations

from math import inf
from typing import Literal, TypeAlias

from carob.errors import UsageError
from carob.schema.base import Json, Struct

Scale: TypeAlias = tuple[float, float | None]


def check_threshold(name: str, threshold: float, scale: Scale) -> None:
    """Raise `UsageError` for a threshold off the scale, which would always pass or always fail."""
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
    """No score, and why.

    A metric that could not be scored holds its case back: the case asks for it, and the trace, the
    judge or a package is missing. One that is not applicable does not.
    """

    reason: str
    not_applicable: bool = False
    """Whether the case asks nothing of the metric."""


class Failed(Struct, frozen=True, tag="failed"):
    """The metric broke, and how."""

    kind: str
    message: str


class MetricInfo(Struct, frozen=True, omit_defaults=False):
    """An installed metric: its meaning, requirements and scale."""

    name: str
    version: int
    meaning: str
    """The first sentence of its description."""
    description: str
    needs: tuple[str, ...]
    scale: Scale
    better: Literal["higher", "lower"]
    threshold: float | None
    """The default threshold; `None` for an informational metric."""
    judged: bool
    params: dict[str, Json]
    """The parameters and their defaults."""
    packages: tuple[str, ...]
    """Optional packages that it needs."""
