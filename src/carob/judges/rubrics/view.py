from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from carob.metrics.pairs import Pair, pairs
from carob.schema import Case, Trace, Turn


class View(NamedTuple):
    """What of a case and a trace is judged: one turn, or the whole conversation."""

    case: Case
    trace: Trace
    pair: Pair | None = None
    """The turn; `None` is the whole conversation."""

    @property
    def pairs(self) -> list[Pair]:
        """The turns that are judged."""
        return [self.pair] if self.pair else [*pairs(self.case, self.trace)]

    @property
    def actuals(self) -> list[Turn]:
        """The recorded turns that are judged."""
        return [pair.actual for pair in self.pairs if pair.actual]

    @property
    def goldens(self) -> list[Turn]:
        return [pair.golden for pair in self.pairs if pair.golden]

    @property
    def before(self) -> tuple[Turn, ...]:
        """The recorded turns before the one that is judged, or before the last of all."""
        return self.trace.turns[: self.pair.number - 1] if self.pair else self.trace.turns[:-1]

    @property
    def so_far(self) -> tuple[Turn, ...]:
        """The recorded turns up to the one that is judged."""
        return self.trace.turns[: self.pair.number] if self.pair else self.trace.turns


def by_turn(case: Case, trace: Trace) -> Iterator[View]:
    return (View(case, trace, pair) for pair in pairs(case, trace))
