"""Pair traces with golden cases. Runs, tests and calibration all pair here.

A trace belongs to the case that it names; else to the case with the same first user message,
ignoring case and whitespace (of several, the one with as many turns); else, if there is only one
trace and only one case, to that case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from carob.runner.case_index import CaseIndex, begins_with
from carob.schema import Case, Trace


class Pair(NamedTuple):
    """A trace, its case if it has one, and the reason for either."""

    case: Case | None
    trace: Trace
    reason: str


class Pairing:
    """Pairs traces with the cases of a dataset."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = CaseIndex(cases)

    def pair(self, trace: Trace) -> Pair:
        """Return the trace with its case; without one if no case or several cases match."""
        if trace.case is not None:
            case = self.cases.get(trace.case)
            reason = "by case id" if case else f"the trace names the unknown case {trace.case!r}"
            return Pair(case, trace, reason)
        message = trace.turns[0].user if trace.turns else None
        if message is None:
            return Pair(None, trace, "the trace has no user message")
        places = self.cases.find_message(message, len(trace.turns))
        # The index compares digests only, and two messages may share one.
        if len(places) == 1 and begins_with(case := self.cases.cases[places[0]], message):
            return Pair(case, trace, "by first user message")
        if len(places) > 1:
            ids = ", ".join(repr(self.cases.cases[place].id) for place in places[:3])
            return Pair(None, trace, f"several cases begin with its message: {ids}")
        return Pair(None, trace, "no case begins with its message")


def pair_traces(cases: Sequence[Case], traces: Iterable[Trace]) -> Iterator[Pair]:
    """Pair a stream that contains every trace."""
    pairing = Pairing(cases)
    only: Pair | None = None
    for number, trace in enumerate(traces):
        pair = pairing.pair(trace)
        if number == 0 and pair.case is None:
            only = pair  # held back: only the end of the stream shows whether it is the only trace
            continue
        if only:
            yield only
            only = None
        yield pair
    if only:
        yield pair_only_case(cases, only.trace) or only


def pair_only_case(cases: Sequence[Case], trace: Trace) -> Pair | None:
    """Pair the only case with the only trace, unless the trace names another case."""
    if len(cases) == 1 and trace.case is None:
        return Pair(cases[0], trace, "the only case and the only trace")
    return None


def pair_with_all(cases: Iterable[Case], trace: Trace) -> list[Pair]:
    """Pair the trace with every case."""
    return [Pair(case, trace, "every case with every trace") for case in cases]
