"""Which case of the new version is which case of the old one.

Ids decide. A case that got another id is found by what the user says. Where a source gives no ids,
they follow from what the user says (`content_id`), and a case that was said anew is the nearest.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import msgspec

from carob.schema import Case, content_id
from carob.schema.digest import case_digest
from carob.versions import equivalence

_NEAR = 0.8
"""Share of the text that two messages must have in common to be one message said anew."""
_COMPARED = 500
_COMMON_WORD = 100
"""A word in more messages than this says nothing about which one is meant."""
_CANDIDATES = 3


class Alignment(NamedTuple):
    """Indices into the old and the new cases."""

    pairs: list[tuple[int, int]]
    removed: list[int]
    added: list[int]


def align(old: Sequence[Case], new: Sequence[Case]) -> Alignment:
    """Pair the cases of two versions, the surest pairs first."""
    matching = _Matching(old, new)
    matching.pair(case_digest)
    # Of two derived ids, one says which question, not which case: rows with the same question
    # swap their ids when they swap their places.
    matching.pair(lambda case: _content(case) if is_derived(case) else None)
    matching.pair(lambda case: case.id)
    matching.pair(_content)
    matching.pair(lambda case: (_said(case), _answer(case)) if _said(case) else None)
    matching.pair(lambda case: _said(case) or None)
    matching.pair_near()
    pairs = sorted(matching.pairs, key=lambda pair: pair[1])
    return Alignment(pairs, list(matching.old), list(matching.new))


class _Matching:
    def __init__(self, old: Sequence[Case], new: Sequence[Case]) -> None:
        self.old, self.new = dict(enumerate(old)), dict(enumerate(new))
        self.pairs: list[tuple[int, int]] = []

    def pair(self, key: Callable[[Case], Hashable | None]) -> None:
        """Pair what has the same key, in the order in which it is listed."""
        if not self.old or not self.new:
            return
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        for index, case in self.new.items():
            places[key(case)].append(index)
        places.pop(None, None)
        waiting = {name: iter(found) for name, found in places.items()}
        self._take(
            (index, place)
            for index, case in self.old.items()
            if (found := waiting.get(key(case))) and (place := next(found, None)) is not None
        )

    def pair_near(self) -> None:
        """Pair what is each other's nearest, and near enough. Whoever gives ids has said what is
        another case."""
        likeness = _likenesses(_unnamed(self.old), _unnamed(self.new))
        there = _favourites((index, place, score) for (index, place), score in likeness.items())
        back = _favourites((place, index, score) for (index, place), score in likeness.items())
        self._take((index, place) for index, place in there.items() if back.get(place) == index)

    def _take(self, pairs: Iterable[tuple[int, int]]) -> None:
        for index, place in list(pairs):
            del self.old[index], self.new[place]
            self.pairs.append((index, place))


def _unnamed(cases: dict[int, Case]) -> dict[int, str]:
    return {index: " ".join(_said(case)) for index, case in cases.items() if is_derived(case)}


def is_derived(case: Case) -> bool:
    """Does the id follow from what the user says?"""
    name = content_id(*(turn.user or "" for turn in case.turns))
    if not case.id.startswith(name):
        return False
    rest = case.id.removeprefix(name)
    return not rest or (rest[0] == "-" and rest[1:].isdecimal())


def _content(case: Case) -> str:
    return case_digest(msgspec.structs.replace(case, id=""))


def _said(case: Case) -> tuple[str, ...]:
    said = [turn.user for turn in case.turns]
    if case.scenario:
        said.append(case.scenario.prompt)
    return tuple(equivalence.normalize_text(user) for user in said if user)


def _answer(case: Case) -> tuple[str, ...]:
    return tuple(equivalence.normalize_text(turn.response or "") for turn in case.turns)


def _likenesses(old: dict[int, str], new: dict[int, str]) -> dict[tuple[int, int], float]:
    """How alike the texts are that share most of the words which tell texts apart."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in new.items():
        for word in _words(text):
            holders[word].append(place)
    found: dict[tuple[int, int], float] = {}
    for index, text in old.items():
        shared = [holders[word] for word in _words(text) if word in holders]
        telling = [places for places in shared if len(places) <= _COMMON_WORD]
        counts = Counter(place for places in telling for place in places)
        for place, _ in counts.most_common(_CANDIDATES):
            found[index, place] = _likeness(text, new[place])
    return found


def _favourites(scores: Iterable[tuple[int, int, float]]) -> dict[int, int]:
    """For each the other one that is most like it, if one is and it is alike enough."""
    best: dict[int, list[tuple[float, int]]] = {}
    for one, other, score in scores:
        if score >= _NEAR:
            best[one] = sorted([*best.get(one, []), (score, other)], reverse=True)[:2]
    return {
        one: found[0][1]
        for one, found in best.items()
        if len(found) == 1 or found[1][0] < found[0][0]
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text[:_COMPARED].casefold()))


def _likeness(one: str, other: str) -> float:
    # Not symmetric by itself: the order of the two is fixed, so that both ways give the same.
    first, second = sorted((one[:_COMPARED], other[:_COMPARED]))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _NEAR else 0.0
