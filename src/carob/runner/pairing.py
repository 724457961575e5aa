"""Which case does a trace belong to?

In this order: the case that the recording names; the first user message, equal but for case and
blanks (of several such cases, the one with as many turns); the only case, for the only trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from carob.schema import Case, Trace


class Pair(NamedTuple):
    """A trace and the case that it belongs to, and how that was found."""

    case: Case | None
    trace: Trace
    how: str


class Pairing:
    """The cases of a dataset, ready to be asked for."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._by_id = {case.id: case for case in cases}
        self._by_text: dict[str, list[Case]] = {}
        self._folded: dict[str, str] = {}
        for case in cases:
            opening = _opening(case)
            if opening is not None:
                text = self._folded[opening] = _folded(opening)
                self._by_text.setdefault(text, []).append(case)

    def pair(self, trace: Trace) -> Pair:
        """The case of a trace; `None` with the reason if there is none, or more than one."""
        if trace.case is not None:
            case = self._by_id.get(trace.case)
            how = "by case id" if case else f"the recording names case {trace.case!r}, unknown here"
            return Pair(case, trace, how)
        said = trace.turns[0].user if trace.turns else None
        if said is None:
            return Pair(None, trace, "no user message was recorded")
        return self._by_message(self._folded.get(said) or _folded(said), trace)

    def _by_message(self, text: str, trace: Trace) -> Pair:
        found = self._by_text.get(text, [])
        if len(found) > 1:
            alike = [case for case in found if len(case.turns) == len(trace.turns)]
            found = alike or found  # cases of another length are as ambiguous as ever
        if len(found) == 1:
            return Pair(found[0], trace, "by first user message")
        if found:
            names = ", ".join(repr(case.id) for case in found[:3])
            return Pair(None, trace, f"several cases begin with its message: {names}")
        return Pair(None, trace, "no case begins with its message")


def pair_rest(cases: Sequence[Case], trace: Trace) -> Pair | None:
    """The only case and the only trace belong together, unless the trace names another case."""
    if len(cases) == 1 and trace.case is None:
        return Pair(cases[0], trace, "the only case and the only trace")
    return None


def cross(cases: Iterable[Case], trace: Trace) -> list[Pair]:
    """Every case with the trace."""
    return [Pair(case, trace, "every case with every trace") for case in cases]


def _opening(case: Case) -> str | None:
    if case.turns:
        return case.turns[0].user
    return case.scenario.prompt if case.scenario else None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
