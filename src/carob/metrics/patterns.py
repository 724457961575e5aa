"""Regular expressions of users, none of which can hang a run.

Python's `re` goes back and tries again wherever a pattern leaves a choice, which takes `(a+)+b`
longer than anybody lives. A pattern with hardly any choice is left to `re`; every other one is run
as an automaton that reads each character once. Whether a text matches comes out the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_FEW = 16  # ways through a pattern that `re` may try at each place
_SHORT = 10_000  # characters; `re` may take their square
_LARGEST = 10_000  # states of an automaton
_FARTHEST = 1_000_000  # characters that are looked ahead at, all in all
_MOST = 20_000  # steps that are remembered

Item: TypeAlias = tuple[Any, Any]
"""An operation of a parsed pattern, and what it is about."""
States: TypeAlias = frozenset[int]


class Pattern:
    """A regular expression; `ValueError` if it is none, or none that can be run in bounded time."""

    def __init__(self, written: str) -> None:
        try:
            self._re = re.compile(written)
            parsed = _parser.parse(written)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"{written!r} is no regular expression: {error}") from error
        self._few = _ways(parsed) <= _FEW
        self._written = written
        try:
            self._automaton = _Automaton(parsed, parsed.state.flags)
        except ValueError as error:
            if not self._few:
                raise ValueError(f"{written!r} may take forever: {error}") from error
            self._automaton = None

    def search(self, text: str) -> bool:
        """Is the pattern found in the text?"""
        if self._few and len(text) <= _SHORT:
            return self._re.search(text) is not None
        return self._runnable().run(text, anywhere=True, whole=False)

    def fullmatch(self, text: str) -> bool:
        """Is the pattern one of the whole text?"""
        if self._few and len(text) <= _SHORT:
            return self._re.fullmatch(text) is not None
        return self._runnable().run(text, anywhere=False, whole=True)

    def _runnable(self) -> _Automaton:
        if self._automaton is None:
            limit = f"{_SHORT:,} characters"
            raise ValueError(f"{self._written!r} looks back, in a text of more than {limit}")
        return self._automaton


@lru_cache(maxsize=256)
def pattern(written: str) -> Pattern:
    """The pattern, compiled once."""
    return Pattern(written)


def _ways(items: Iterable[Item]) -> float:
    """How many ways through a pattern there are at most, a repetition counting as one way if
    nothing in it can be chosen."""
    ways, repeats = 1.0, 0
    for name, about in map(_named, items):
        if name == "BRANCH":
            ways *= sum(map(_ways, about[1]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = about
            inner = _ways(body)
            if low != high:
                repeats += 1
                inner = 1 if inner == 1 and not _repeats(body) else float("inf")
            ways *= min(inner, 99.0) ** min(low, 64) if low == high else inner
        else:
            for part in _parts(name, about):
                ways *= _ways(part)
                repeats += _repeats(part)
    return ways if repeats < 2 else float("inf")


def _repeats(items: Iterable[Item]) -> int:
    """The number of repetitions that may end sooner or later."""
    found = 0
    for name, about in map(_named, items):
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            found += (about[0] != about[1]) + _repeats(about[2])
        else:
            parts = about[1] if name == "BRANCH" else _parts(name, about)
            found += sum(map(_repeats, parts))
    return found


def _named(item: Item) -> tuple[str, Any]:
    return str(item[0]), item[1]


def _parts(name: str, about: Any) -> Sequence[Any]:
    """The patterns inside an operation that is neither a choice nor a repetition."""
    if name == "SUBPATTERN":
        return (about[3],)
    if name in ("ASSERT", "ASSERT_NOT"):
        return (about[1],)
    if name == "ATOMIC_GROUP":
        return (about,)
    if name == "POSSESSIVE_REPEAT":
        return (about[2],)
    if name == "GROUPREF_EXISTS":
        return tuple(part for part in about[1:] if part)
    return ()


class _Automaton:
    """All ways through a pattern, walked at the same time.

    A state waits for a character, or passes on to others, perhaps on a condition; state 0 is the
    end.
    """

    def __init__(self, items: Iterable[Item], flags: int, *, inner: bool = False) -> None:
        self._flags, self._inner, self._looked = flags, inner, 0
        self._awaits: dict[int, tuple[Callable[[str], object], int]] = {}
        self._passes: dict[int, tuple[Callable[[str, int], object] | None, Sequence[int]]] = {}
        self._size = 1
        self._start = self._sequence(items, 0)
        self._free = all(condition is None for condition, _ in self._passes.values())
        self._closures: dict[States, States] = {}
        self._steps: dict[tuple[States, str], States] = {}

    def run(self, text: str, place: int = 0, *, anywhere: bool, whole: bool) -> bool:
        """Is there a match from that place on, or from any later one; up to the end of the text?"""
        self._looked = 0
        begin = frozenset((self._start,))
        states = begin
        while True:
            closed = self._closed(states, text, place)
            if 0 in closed and (not whole or place == len(text)):
                return True
            if place == len(text) or not (closed or anywhere):
                return False
            states = self._step(closed, text[place])
            if anywhere:
                states |= begin
            place += 1

    def _step(self, states: States, char: str) -> States:
        found = self._steps.get((states, char))
        if found is None:
            awaits = [self._awaits[state] for state in states if state in self._awaits]
            found = frozenset(target for test, target in awaits if test(char))
            _remember(self._steps, (states, char), found)
        return found

    def _closed(self, states: States, text: str, place: int) -> States:
        """The states, and all that they pass on to at that place."""
        known = self._closures.get(states) if self._free else None
        if known is not None:
            return known
        seen, todo = set(states), list(states)
        while todo:
            condition, targets = self._passes.get(todo.pop(), (None, ()))
            if condition is None or condition(text, place):
                fresh = [target for target in targets if target not in seen]
                seen.update(fresh)
                todo += fresh
        closed = frozenset(state for state in seen if state == 0 or state in self._awaits)
        if self._free:
            _remember(self._closures, states, closed)
        return closed

    def _sequence(self, items: Iterable[Item], after: int) -> int:
        """The state in which a sequence begins that goes on to `after`."""
        for item in reversed(list(items)):
            after = self._item(item, after)
        return after

    def _item(self, item: Item, after: int) -> int:
        name, about = _named(item)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            state = self._new()
            self._awaits[state] = (self._compiled(item).match, after)
            return state
        if name == "BRANCH":
            return self._pass([self._sequence(branch, after) for branch in about[1]])
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = about
            return self._repeat(low, high, body, after)
        if name == "SUBPATTERN":
            _, added, removed, body = about
            return self._group(added, removed, body, after)
        if name == "AT":
            return self._pass([after], self._compiled(item).match)
        if name in ("ASSERT", "ASSERT_NOT") and about[0] == 1:
            return self._pass([after], self._ahead(about[1], wanted=name == "ASSERT"))
        raise ValueError("it has several repetitions or choices, and looks back")

    def _repeat(self, low: int, high: int, body: Any, after: int) -> int:
        if high == _parser.MAXREPEAT:
            entry = self._pass([])
            self._passes[entry] = (None, [self._sequence(body, entry), after])
        else:
            entry = after
            for _ in range(high - low):
                entry = self._pass([self._sequence(body, entry), after])
        for _ in range(low):
            entry = self._sequence(body, entry)
        return entry

    def _group(self, added: int, removed: int, body: Any, after: int) -> int:
        outer = self._flags
        self._flags = (outer | added) & ~removed
        entry = self._sequence(body, after)
        self._flags = outer
        return entry

    def _ahead(self, body: Any, *, wanted: bool) -> Callable[[str, int], bool]:
        if self._inner:
            raise ValueError("it looks ahead of what is ahead")
        ahead = _Automaton(body, self._flags, inner=True)

        def met(text: str, place: int) -> bool:
            self._looked += len(text) - place
            if self._looked > _FARTHEST:
                raise ValueError(f"it looks ahead too often in {len(text):,} characters")
            return ahead.run(text, place, anywhere=False, whole=False) is wanted

        return met

    def _pass(
        self, targets: Sequence[int], condition: Callable[[str, int], object] | None = None
    ) -> int:
        state = self._new()
        self._passes[state] = (condition, targets)
        return state

    def _new(self) -> int:
        if self._size >= _LARGEST:
            raise ValueError("its repetitions add up to too much")
        self._size += 1
        return self._size - 1

    def _compiled(self, item: Item) -> re.Pattern[str]:
        state = _parser.State()
        state.flags = self._flags
        return _compiler.compile(_parser.SubPattern(state, [item]), self._flags)


def _remember(known: dict[Any, States], key: object, states: States) -> None:
    if len(known) >= _MOST:
        known.clear()
    known[key] = states
