"""K202: cases that ask nearly the same.

Two inputs are near duplicates if at least four fifths of their three-letter sequences are the same
(Jaccard), and all of their numbers: `order 17` and `order 18` are different questions. Every pair
that is named was compared exactly.

Which pairs are compared follows from the prefix filter: sets that are this similar share one of
their few rarest members. So each set is listed under those only. A list that is full takes no more,
which keeps the time linear even if every input is made from one template; only there may a pair be
missed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from karat.datasets.lint.check import Found, Item, Place
from karat.datasets.lint.duplicates import input_text
from karat.schema import Dataset

SIMILAR = 0.8
_GAP = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\w*\d\w*")
_LONGEST = 5_000
"""Characters that are compared."""
_FULL = 50


class Pair(NamedTuple):
    """A text, an earlier one that is nearly the same, and how similar they are."""

    later: int
    earlier: int
    similarity: float


class NearDuplicates:
    rules = ("K202",)

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._places: list[Place] = []

    def see(self, item: Item) -> Iterable[Found]:
        text = plain(input_text(item.case))
        if text:
            self._texts.append(text)
            self._places.append(item.place)
        return ()

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        for later, earlier, similarity in near_pairs(self._texts):
            other = self._places[earlier]
            line = f" on line {other.line}" if other.line else ""
            message = f"asks nearly the same as {other}{line} ({similarity:.0%} alike)"
            yield Found("K202", self._places[later], message, "keep one, or make them differ more")


def plain(text: str) -> str:
    """A text without case and punctuation."""
    return _GAP.sub(" ", text[:_LONGEST].casefold()).strip()


def near_pairs(texts: list[str]) -> Iterator[Pair]:
    """For each text that has a near duplicate before it, the most similar one. Texts that are
    equal are the business of another rule."""
    chosen = [*_comparable(texts)]
    grams = {index: _grams(text) for index, text in chosen}
    counts = Counter(gram for found in grams.values() for gram in found)
    listed: dict[tuple[str, str], list[int]] = {}
    for index, text in chosen:
        own = grams[index]
        prefix = _rarest(own, counts)
        numbers = " ".join(sorted(_NUMBER.findall(text)))
        lists = [listed.setdefault((numbers, gram), []) for gram in prefix]
        best = _best(own, {other for found in lists for other in found}, grams)
        if best:
            yield Pair(index, best[1], best[0])
        for found in lists:
            if len(found) < _FULL:
                found.append(index)


def _comparable(texts: list[str]) -> Iterator[tuple[int, str]]:
    """Each text once, and only if another one has the same numbers."""
    first = {text: index for index, text in reversed([*enumerate(texts)])}
    numbers = {index: " ".join(sorted(_NUMBER.findall(text))) for text, index in first.items()}
    shared = Counter(numbers.values())
    for index, text in enumerate(texts):
        if first[text] == index and shared[numbers[index]] > 1:
            yield index, text


def _grams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def _rarest(grams: frozenset[str], counts: Counter[str]) -> list[str]:
    """As many as it takes for two similar sets to have one in common."""
    size = len(grams)
    length = size - -(-size * 4 // 5) + 1
    return sorted(grams, key=lambda gram: (counts[gram], gram))[:length]


def _best(
    own: frozenset[str], others: set[int], grams: dict[int, frozenset[str]]
) -> tuple[float, int] | None:
    """The most similar of the others, the earliest of equals."""
    best: tuple[float, int] | None = None
    size = len(own)
    for other in sorted(others):
        found = grams[other]
        if not size * 4 <= len(found) * 5 or not len(found) * 4 <= size * 5:
            continue
        shared = len(own & found)
        similarity = shared / (size + len(found) - shared)
        if similarity >= SIMILAR and (best is None or similarity > best[0]):
            best = similarity, other
    return best
