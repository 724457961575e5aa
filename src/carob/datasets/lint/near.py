"""K202: cases that ask nearly the same.

Two inputs are near duplicates if at least four fifths of their three-letter sequences are the same
(Jaccard), and all of their numbers: `order 17` and `order 18` are different questions. Every pair
that is named was compared exactly.

Which pairs are compared follows from sketches (MinHash, one permutation, in bands): two texts meet
if one of eight bands of their sketches is the same, which happens to 98 of 100 pairs that are just
similar enough, and to practically all that are more so. Sequences are hashed by their bytes: the
same file gives the same findings everywhere. A band or a text with very many partners takes only
the first ones, which keeps the time linear even if all inputs are made from one template.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from carob.datasets.lint.check import Found, Item, Place
from carob.datasets.lint.duplicates import input_text
from carob.schema import Dataset

SIMILAR = 0.8
_GAP = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"\d")
_LONGEST = 5_000
"""Characters that are compared."""
_BINS, _BAND = 32, 4
_FULL = 50
"""Texts that are listed under one band."""
_TRIED = 16
"""Texts that one text is compared with, those that it meets most often first."""


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
    grams: dict[int, frozenset[str]] = {}
    listed: dict[tuple[object, ...], list[int]] = {}
    for index, text in _comparable(texts):
        own = grams[index] = _grams(text)
        lists = [listed.setdefault(band, []) for band in _bands(own, _numbers(text))]
        met = Counter(other for found in lists for other in found)
        best = _best(own, [other for other, _ in met.most_common(_TRIED)], grams)
        if best:
            yield Pair(index, best[1], best[0])
        for found in lists:
            if len(found) < _FULL:
                found.append(index)


def _comparable(texts: list[str]) -> Iterator[tuple[int, str]]:
    """Each text once, and only if another one has the same numbers."""
    first = {text: index for index, text in reversed([*enumerate(texts)])}
    shared = Counter(map(_numbers, first))
    for index, text in enumerate(texts):
        if first[text] == index and shared[_numbers(text)] > 1:
            yield index, text


def _numbers(text: str) -> str:
    if not _DIGIT.search(text):
        return ""
    return " ".join(sorted(word for word in text.split() if _DIGIT.search(word)))


def _grams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


@lru_cache(maxsize=1 << 16)
def _hashed(gram: str) -> int:
    return int.from_bytes(blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _bands(grams: frozenset[str], numbers: str) -> Iterator[tuple[object, ...]]:
    """The least hash in each bin, a few bins to a band; an empty bin has that of the next one."""
    hashes = sorted(map(_hashed, grams), reverse=True)
    least = [0] * _BINS
    for hashed in hashes:  # the least one comes last
        least[hashed % _BINS] = hashed
    last = next(filter(None, least))
    for at in reversed(range(_BINS)):
        last = least[at] = least[at] or last
    return ((at, numbers, *least[at : at + _BAND]) for at in range(0, _BINS, _BAND))


def _best(
    own: frozenset[str], others: list[int], grams: dict[int, frozenset[str]]
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
