"""One benchmark: two numbers from the same run, their ratio and its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["ms", "s", "kB", "MB", "MB/s", "%"]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A measured value and the name of what was measured."""

    name: str
    value: float
    unit: Unit

    def __str__(self) -> str:
        digits = 0 if self.value >= 100 else 1 if self.value >= 10 else 2
        return f"{self.name}: {self.value:.{digits}f} {self.unit}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A benchmark result. Absolute values depend on the machine, so the target is a ratio."""

    title: str
    ours: Number
    theirs: Number
    ratio: float
    """Theirs to ours for `at least`, ours to theirs for `at most`."""
    bound: Literal["at least", "at most"]
    target: float

    @property
    def met(self) -> bool:
        """Whether the target is reached."""
        return self.ratio >= self.target if self.bound == "at least" else self.ratio <= self.target


def faster(title: str, ours: Number, theirs: Number, *, target: float) -> Row:
    """Ours must be at least `target` times as fast."""
    ratio = theirs.value / ours.value
    return Row(title=title, ours=ours, theirs=theirs, ratio=ratio, bound="at least", target=target)


def at_most(title: str, ours: Number, theirs: Number, *, target: float) -> Row:
    """Ours may be at most `target` times as much."""
    ratio = ours.value / theirs.value
    return Row(title=title, ours=ours, theirs=theirs, ratio=ratio, bound="at most", target=target)
