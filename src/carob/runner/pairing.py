"""Pair traces with golden cases. Runs, tests and calibration all pair here.

A trace belongs to the case that it names; else to the case with the same first user message,
ignoring case and whitespace (of several, the one with as many turns); else, if there is only one
trace and only one case, to that case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from carob.schema import Case, Trace


class Pair(NamedTuple):
    """A trace, its case if it has one, and the reason for either."""

    case: Case | None
    trace: Trace
    reason: str


class Pairing:
    """An index of cases by id and by first user message."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._by_id = {case.id: case for case in cases}
        self._by_message: dict[str, list[Case]] = {}
        # Traces usually repeat the message of their case exactly: this finds the folded message
        # without folding it again for every trace.
        self._folded: dict[str, str] = {}
        for case in cases:
            message = _first_message(case)
            if message is not None:
                folded = self._folded[message] = _fold(message)
                self._by_message.setdefault(folded, []).append(case)

    def pair(self, trace: Trace) -> Pair:
        """Return the trace with its case; without one if no case or several cases match."""
        if trace.case is not None:
            case = self._by_id.get(trace.case)
            reason = "by case id" if case else f"the trace names the unknown case {trace.case!r}"
            return Pair(case, trace, reason)
        message = trace.turns[0].user if trace.turns else None
        if message is None:
            return Pair(None, trace, "the trace has no user message")
        return self._pair_by_message(self._folded.get(message) or _fold(message), trace)

    def _pair_by_message(self, message: str, trace: Trace) -> Pair:
        cases = self._by_message.get(message, [])
        if len(cases) > 1:
            # If no case has as many turns as the trace, all of them remain candidates.
            cases = [case for case in cases if len(case.turns) == len(trace.turns)] or cases
        if len(cases) == 1:
            return Pair(cases[0], trace, "by first user message")
        if cases:
            ids = ", ".join(repr(case.id) for case in cases[:3])
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


def _first_message(case: Case) -> str | None:
    if case.turns:
        return case.turns[0].user
    return case.scenario.prompt if case.scenario else None


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
