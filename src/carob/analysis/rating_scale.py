"""The categories in which labels and scores are compared: the levels of a scale, or pass and
fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import ClassVar, Literal, TypeAlias

from carob.errors import FormatError, UsageError
from carob.schema import Label, LabelValue, MetricSpec

_MOST_LEVELS = 11
"""0 to 10; finer scales are compared by threshold instead."""


@dataclass(frozen=True)
class PassFailScale:
    """Numbers pass or fail by the threshold of the metric."""

    threshold: float
    better: Literal["higher", "lower"]

    kind: ClassVar[Literal["verdicts"]] = "verdicts"
    categories: ClassVar[tuple[LabelValue, ...]] = ("failed", "passed")

    def category(self, value: LabelValue) -> LabelValue:
        """The category of a label or score."""
        if isinstance(value, str):
            return value
        passed = value >= self.threshold if self.better == "higher" else value <= self.threshold
        return "passed" if passed else "failed"

    def distance(self, human: LabelValue, score: float) -> float:
        """How far off a score is; from the threshold, if the label is only a verdict."""
        return abs(score - (self.threshold if isinstance(human, str) else human))


@dataclass(frozen=True)
class LevelScale:
    """Numbers are rounded to the nearest level, halves up."""

    categories: tuple[float, ...]

    kind: ClassVar[Literal["levels"]] = "levels"

    def category(self, value: LabelValue) -> LabelValue:
        """The level nearest to a label or score."""
        if isinstance(value, str):
            return value
        return float(min(max(floor(value + 0.5), self.categories[0]), self.categories[-1]))

    def distance(self, human: LabelValue, score: float) -> float:
        """How far off a score is."""
        return 0.0 if isinstance(human, str) else abs(score - human)


RatingScale: TypeAlias = PassFailScale | LevelScale


def pass_fail_scale(spec: MetricSpec) -> PassFailScale | None:
    """Pass and fail, if the metric has a threshold."""
    return None if spec.threshold is None else PassFailScale(spec.threshold, spec.better)


def choose_scale(spec: MetricSpec, labels: Sequence[Label]) -> RatingScale:
    """Choose levels if the metric has few and all labels are on them, otherwise pass and fail."""
    _check_labels(spec, labels)
    levels = _levels(spec)
    if all(label.label in levels for label in labels):
        return LevelScale(levels)
    scale = pass_fail_scale(spec)
    if scale is None:
        kind = "verdicts" if isinstance(labels[0].label, str) else "numbers between levels"
        hint = "set the score from which an answer passes with --threshold"
        raise UsageError(f"the labels are {kind}, but {spec.name} has no threshold", hint=hint)
    return scale


def _levels(spec: MetricSpec) -> tuple[float, ...]:
    low, high = spec.scale
    if high is None or not (low.is_integer() and high.is_integer()):
        return ()
    return tuple(map(float, range(int(low), int(high) + 1))) if high - low < _MOST_LEVELS else ()


def _check_labels(spec: MetricSpec, labels: Sequence[Label]) -> None:
    """Labels must be all verdicts, or all numbers on the scale of the metric."""
    for previous, label in zip([labels[0], *labels], labels, strict=False):
        if isinstance(label.label, str) != isinstance(previous.label, str):
            message = f"label is {label.label!r}, but the previous one is {previous.label!r}"
            hint = "label with either verdicts or numbers, not both"
            raise FormatError(message, where=label.where, hint=hint)
        if not isinstance(label.label, str) and not _on_scale(label.label, spec):
            low, high = spec.scale
            scale = f"{low:g} or more" if high is None else f"a number from {low:g} to {high:g}"
            message = f"label is {label.label:g}, expected {scale} (the scale of {spec.name})"
            raise FormatError(message, where=label.where)


def _on_scale(value: float, spec: MetricSpec) -> bool:
    low, high = spec.scale
    return low <= value and (high is None or value <= high)
