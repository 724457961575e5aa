"""Match the cases of two versions of a dataset.

Ids decide. A case with a new id is matched by its user messages. If a source has no ids, they are
derived from the user messages (`content_id`), and a reworded case is matched by similarity.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import msgspec

from carob.files.digest_table import DigestTable, text_digest
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

    pairs: Sequence[tuple[int, int]]
    """In the order of the new cases."""
    removed: list[int]
    added: list[int]
    unchanged: bytes
    """For each new case, 1 if it is equal to its old one."""


def align(old: Sequence[Case], new: Sequence[Case]) -> CaseMatches:
    """Pair the cases of two versions, the most certain pairs first."""
    matching = _Matching(old, new)
    matching.pair(case_digest)
    unchanged = bytes(matching.new.taken)
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
    removed, added = list(matching.old.indices()), list(matching.new.indices())
    return CaseMatches(_Pairs(matching.partners), removed, added, unchanged)


class _Pairs(Sequence[tuple[int, int]]):
    """The pairs of old and new cases, in eight bytes each."""

    def __init__(self, partners: array[int]) -> None:
        self._partners = partners
        self._new = array("q", (new for new, old in enumerate(partners) if old >= 0))

    def __len__(self) -> int:
        return len(self._new)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, int] | Sequence[tuple[int, int]]:
        if isinstance(index, slice):
            return [(self._partners[new], new) for new in self._new[index]]
        new = self._new[index]
        return self._partners[new], new


class _Unpaired:
    """The cases of one version that have no partner yet. The cases may be in a file."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self.taken = bytearray(len(cases))
        self.left = len(cases)

    def indices(self) -> Iterator[int]:
        return (index for index, taken in enumerate(self.taken) if not taken)

    def items(self) -> Iterator[tuple[int, Case]]:
        if self.left == len(self._cases):
            return enumerate(self._cases)
        return ((index, self._cases[index]) for index in self.indices())

    def take(self, index: int) -> None:
        self.taken[index] = 1
        self.left -= 1


class _Matching:
    def __init__(self, old: Sequence[Case], new: Sequence[Case]) -> None:
        self.old, self.new = _Unpaired(old), _Unpaired(new)
        self.partners = array("q", [-1]) * len(new)
        """The old case of each new one."""

    def pair(self, key: Callable[[Case], Hashable | None]) -> None:
        """Pair cases with the same key, in their order. Keys are compared by digests, which are
        all that memory holds of the cases."""
        if not self.old.left or not self.new.left:
            return
        by_key = DigestTable(_digests(self.new, key))
        used: Counter[int] = Counter()  # only of keys that are not unique: there may be millions
        pairs = array("q")
        for digest, old in _digests(self.old, key):
            indices = by_key.find(digest)
            number = used[digest] if len(indices) > 1 else 0
            if number < len(indices) and self.partners[indices[number]] < 0:
                self.partners[indices[number]] = old
                pairs.extend((old, indices[number]))
                if len(indices) > 1:
                    used[digest] += 1
        self._take(zip(pairs[::2], pairs[1::2], strict=True))

    def pair_similar(self) -> None:
        """Pair cases that are most similar to each other. Cases with ids of their own are left out:
        there a new id means a new case."""
        scores = _similarities(_texts_without_id(self.old), _texts_without_id(self.new))
        best_new = _best_matches((i, j, score) for (i, j), score in scores.items())
        best_old = _best_matches((j, i, score) for (i, j), score in scores.items())
        self._take((i, j) for i, j in best_new.items() if best_old.get(j) == i)

    def _take(self, pairs: Iterable[tuple[int, int]]) -> None:
        for old, new in pairs:
            self.old.take(old)
            self.new.take(new)
            self.partners[new] = old


def _digests(cases: _Unpaired, key: Callable[[Case], Hashable | None]) -> Iterator[tuple[int, int]]:
    for index, case in cases.items():
        value = key(case)
        if value is not None:
            yield text_digest(value if isinstance(value, str) else repr(value)), index


def _texts_without_id(cases: _Unpaired) -> dict[int, str]:
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
    from difflib import SequenceMatcher  # late: only changed inputs need it

    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _SIMILAR else 0.0
