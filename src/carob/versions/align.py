"""Match the cases of two versions of a dataset.

Ids decide. A case with a new id is matched by its user messages. If a source has no ids, they are
derived from the user messages (`content_id`), and a reworded case is matched by similarity.
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

_SIMILAR = 0.8
"""The similarity from which a message counts as a rewording of another."""
_COMPARED_LENGTH = 500
_COMMON_WORD = 100
"""A word in more messages than this does not help to find similar ones."""
_CANDIDATES = 3


class CaseMatches(NamedTuple):
    """Indices into the old and the new cases."""

    pairs: list[tuple[int, int]]
    removed: list[int]
    added: list[int]


def align(old: Sequence[Case], new: Sequence[Case]) -> CaseMatches:
    """Pair the cases of two versions, the most certain pairs first."""
    matching = _Matching(old, new)
    matching.pair(case_digest)
    # A derived id identifies the question, not the case: two rows with the same question get
    # `case-x` and `case-x-2`, and swap these ids when they swap their positions.
    matching.pair(lambda case: _content_digest(case) if has_derived_id(case) else None)
    matching.pair(lambda case: case.id)
    matching.pair(_content_digest)
    matching.pair(
        lambda case: (_user_messages(case), _responses(case)) if _user_messages(case) else None
    )
    matching.pair(lambda case: _user_messages(case) or None)
    matching.pair_similar()
    pairs = sorted(matching.pairs, key=lambda pair: pair[1])
    return CaseMatches(pairs, list(matching.old), list(matching.new))


class _Matching:
    def __init__(self, old: Sequence[Case], new: Sequence[Case]) -> None:
        self.old, self.new = dict(enumerate(old)), dict(enumerate(new))
        self.pairs: list[tuple[int, int]] = []

    def pair(self, key: Callable[[Case], Hashable | None]) -> None:
        """Pair cases with the same key, in their order."""
        if not self.old or not self.new:
            return
        new_by_key: defaultdict[Hashable, list[int]] = defaultdict(list)
        for index, case in self.new.items():
            new_by_key[key(case)].append(index)
        new_by_key.pop(None, None)
        unpaired = {value: iter(indices) for value, indices in new_by_key.items()}
        self._take(
            (old, new)
            for old, case in self.old.items()
            if (indices := unpaired.get(key(case))) and (new := next(indices, None)) is not None
        )

    def pair_similar(self) -> None:
        """Pair cases that are most similar to each other. Cases with ids of their own are left out:
        there a new id means a new case."""
        scores = _similarities(_texts_without_id(self.old), _texts_without_id(self.new))
        best_new = _best_matches((i, j, score) for (i, j), score in scores.items())
        best_old = _best_matches((j, i, score) for (i, j), score in scores.items())
        self._take((i, j) for i, j in best_new.items() if best_old.get(j) == i)

    def _take(self, pairs: Iterable[tuple[int, int]]) -> None:
        for old, new in list(pairs):
            del self.old[old], self.new[new]
            self.pairs.append((old, new))


def _texts_without_id(cases: dict[int, Case]) -> dict[int, str]:
    return {
        index: " ".join(_user_messages(case))
        for index, case in cases.items()
        if has_derived_id(case)
    }


def has_derived_id(case: Case) -> bool:
    """Whether the id is derived from the user messages."""
    name = content_id(*(turn.user or "" for turn in case.turns))
    if not case.id.startswith(name):
        return False
    suffix = case.id.removeprefix(name)
    return not suffix or (suffix[0] == "-" and suffix[1:].isdecimal())


def _content_digest(case: Case) -> str:
    return case_digest(msgspec.structs.replace(case, id=""))


def _user_messages(case: Case) -> tuple[str, ...]:
    messages = [turn.user for turn in case.turns]
    if case.scenario:
        messages.append(case.scenario.prompt)
    return tuple(equivalence.normalize_text(message) for message in messages if message)


def _responses(case: Case) -> tuple[str, ...]:
    return tuple(equivalence.normalize_text(turn.response or "") for turn in case.turns)


def _similarities(old: dict[int, str], new: dict[int, str]) -> dict[tuple[int, int], float]:
    """The similarity of texts that share the most rare words.

    Comparing all pairs would be quadratic: ten thousand reworded cases are 10^8 comparisons.
    """
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for index, text in new.items():
        for word in _words(text):
            by_word[word].append(index)
    scores: dict[tuple[int, int], float] = {}
    for index, text in old.items():
        shared = [by_word[word] for word in _words(text) if word in by_word]
        rare = [indices for indices in shared if len(indices) <= _COMMON_WORD]
        counts = Counter(candidate for indices in rare for candidate in indices)
        for candidate, _ in counts.most_common(_CANDIDATES):
            scores[index, candidate] = _similarity(text, new[candidate])
    return scores


def _best_matches(scores: Iterable[tuple[int, int, float]]) -> dict[int, int]:
    """The most similar text for each text, if it is similar enough and unique."""
    best: dict[int, list[tuple[float, int]]] = {}
    for text, candidate, score in scores:
        if score >= _SIMILAR:
            best[text] = sorted([*best.get(text, []), (score, candidate)], reverse=True)[:2]
    # Two equally similar candidates pair with neither: otherwise the order of the rows would decide
    # which of them counts as reworded and which as removed.
    return {text: top[0][1] for text, top in best.items() if len(top) == 1 or top[1][0] < top[0][0]}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text[:_COMPARED_LENGTH].casefold()))


def _similarity(old: str, new: str) -> float:
    # `ratio` depends on the order of its arguments, so the order is fixed: otherwise comparing
    # old with new could pair cases that comparing new with old does not.
    first, second = sorted((old[:_COMPARED_LENGTH], new[:_COMPARED_LENGTH]))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _SIMILAR else 0.0
