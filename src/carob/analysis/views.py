"""How opinions are told apart: by levels, or by what passes and what does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import ClassVar, Literal, TypeAlias

from carob.errors import FormatError, UsageError
from carob.schema import Label, MetricUse, Opinion

_MOST_LEVELS = 11
"""0 to 10: finer scales are held to a threshold instead."""


@dataclass(frozen=True)
class Verdicts:
    """Numbers pass or fail by the threshold of the metric."""

    threshold: float
    better: Literal["higher", "lower"]

    kind: ClassVar[Literal["verdicts"]] = "verdicts"
    categories: ClassVar[tuple[Opinion, ...]] = ("failed", "passed")

    def of(self, opinion: Opinion) -> Opinion:
        """The category of an opinion."""
        if isinstance(opinion, str):
            return opinion
        reached = (
            opinion >= self.threshold if self.better == "higher" else opinion <= self.threshold
        )
        return "passed" if reached else "failed"

    def distance(self, human: Opinion, value: float) -> float:
        """How far a judge is off; from the threshold, if people say no more than a verdict."""
        return abs(value - (self.threshold if isinstance(human, str) else human))


@dataclass(frozen=True)
class Levels:
    """Numbers are rounded to the nearest level, halves up."""

    categories: tuple[float, ...]

    kind: ClassVar[Literal["levels"]] = "levels"

    def of(self, opinion: Opinion) -> Opinion:
        if isinstance(opinion, str):
            return opinion
        return float(min(max(floor(opinion + 0.5), self.categories[0]), self.categories[-1]))

    def distance(self, human: Opinion, value: float) -> float:
        return 0.0 if isinstance(human, str) else abs(value - human)


View: TypeAlias = Verdicts | Levels


def by_threshold(use: MetricUse) -> Verdicts | None:
    """What passes, if the metric has a threshold."""
    return None if use.threshold is None else Verdicts(use.threshold, use.better)


def suited(use: MetricUse, labels: Sequence[Label]) -> View:
    """Levels, if the scale has few and all labels are on them; otherwise verdicts."""
    _check(use, labels)
    levels = _levels(use)
    if all(one.label in levels for one in labels):
        return Levels(levels)
    view = by_threshold(use)
    if view is None:
        found = "verdicts" if isinstance(labels[0].label, str) else "numbers between levels"
        hint = "say with --threshold from which score on it passes"
        raise UsageError(f"the labels are {found}, and {use.name} has no threshold", hint=hint)
    return view


def _levels(use: MetricUse) -> tuple[float, ...]:
    low, high = use.scale
    if high is None or not (low.is_integer() and high.is_integer()):
        return ()
    return tuple(map(float, range(int(low), int(high) + 1))) if high - low < _MOST_LEVELS else ()


def _check(use: MetricUse, labels: Sequence[Label]) -> None:
    """All labels must be of one kind, and numbers on the scale."""
    for before, one in zip([labels[0], *labels], labels, strict=False):
        if isinstance(one.label, str) != isinstance(before.label, str):
            message = f"label is {one.label!r}, the one before is {before.label!r}"
            hint = "label either with verdicts or with numbers"
            raise FormatError(message, where=one.where, hint=hint)
        if not isinstance(one.label, str) and not _on_scale(one.label, use):
            low, high = use.scale
            scale = f"from {low:g} on" if high is None else f"from {low:g} to {high:g}"
            message = f"label is {one.label:g}, the scale of {use.name} is {scale}"
            raise FormatError(message, where=one.where)


def _on_scale(value: float, use: MetricUse) -> bool:
    low, high = use.scale
    return low <= value and (high is None or value <= high)
