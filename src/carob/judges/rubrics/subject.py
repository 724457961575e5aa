"""The subject of a question: one turn of a conversation, or all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from carob.metrics.turns import TurnPair, pair_turns
from carob.schema import Case, Trace, Turn


class Subject(NamedTuple):
    """The part of a case and a trace that is judged."""

    case: Case
    trace: Trace
    pair: TurnPair | None = None
    """The judged turn; `None` for the whole conversation."""

    @property
    def pairs(self) -> list[TurnPair]:
        """The judged turns."""
        return [self.pair] if self.pair else [*pair_turns(self.case, self.trace)]

    @property
    def actual_turns(self) -> list[Turn]:
        """The judged turns of the trace."""
        return [pair.actual for pair in self.pairs if pair.actual]

    @property
    def golden_turns(self) -> list[Turn]:
        """The judged turns of the case."""
        return [pair.golden for pair in self.pairs if pair.golden]

    @property
    def turns_before(self) -> tuple[Turn, ...]:
        """The turns of the trace before the judged one, or before the last one."""
        return self.trace.turns[: self.pair.number - 1] if self.pair else self.trace.turns[:-1]

    @property
    def turns_so_far(self) -> tuple[Turn, ...]:
        """The turns of the trace up to and including the judged one."""
        return self.trace.turns[: self.pair.number] if self.pair else self.trace.turns


def subjects_by_turn(case: Case, trace: Trace) -> Iterator[Subject]:
    """Yield one subject per turn."""
    return (Subject(case, trace, pair) for pair in pair_turns(case, trace))
