"""C202: cases with nearly the same input.

Two inputs are near duplicates if at least four fifths of their three-letter sequences are the same
(Jaccard similarity), and all of their numbers: `order 17` and `order 18` are different questions.
Every reported pair was compared exactly.

Candidate pairs come from sketches (one-permutation MinHash in bands): two texts are compared if
one of eight bands of their sketches is equal. This finds 98 of 100 pairs at the threshold, and
practically all above it. Sequences are hashed by their bytes, so the same file gives the same
findings on every machine. A band or a text with very many partners keeps only the first ones, which
keeps the time linear even if all inputs come from one template.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from carob.datasets.lint.duplicates import input_text
from carob.datasets.lint.rules import (
    CaseLocation,
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
    plain_text,
)
from carob.files.digest_table import DigestTable, text_digest
from carob.files.spool import PickleCodec, Spool
from carob.schema import Case, Dataset, LintRule

NEAR_DUPLICATE = LintRule(
    id="C202",
    name="near-duplicate",
    level="warning",
    summary="A case has nearly the same input as an earlier one.",
)

SIMILAR = 0.8
_DIGIT = re.compile(r"\d")
_COMPARED_CHARACTERS = 5_000
_BINS, _BINS_PER_BAND = 32, 4
_BANDS = _BINS // _BINS_PER_BAND
_TEXTS_PER_BAND = 50
_KNOWN_GRAMS = 4096
"""Texts whose sequences are remembered; those of others are computed again."""
_CANDIDATES = 16
"""Texts that one text is compared with: those that share most bands with it."""


class NearPair(NamedTuple):
    """A text, the earlier text that is nearly the same, and their similarity."""

    later: int
    earlier: int
    similarity: float


class NearDuplicates(RuleFamily):
    """Collects the inputs and compares them once the file has ended."""

    rules = (NEAR_DUPLICATE,)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._texts = Spool(PickleCodec[str]())
        self._locations = Spool(PickleCodec[CaseLocation]())

    def visit(self, item: LintItem) -> Iterable[Violation]:
        text = comparable_input(item.case)
        if text:
            self._texts.append(text)
            self._locations.append(item.location)
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        locations = self._locations.finish()
        for later, earlier, similarity in near_pairs(self._texts.finish()):
            original = locations[earlier].with_line()
            message = f"nearly the same input as {original} ({similarity:.0%} similar)"
            hint = "remove one of them, or make them differ more"
            yield Violation(NEAR_DUPLICATE, locations[later], message, hint)


def comparable_input(case: Case) -> str:
    """The input of a case without case and punctuation, cut to the length that is compared."""
    return plain_text(input_text(case)[:_COMPARED_CHARACTERS])


def near_pairs(texts: Sequence[str]) -> Iterator[NearPair]:
    """For each text with a near duplicate before it, the most similar one.

    Equal texts are left to the rule `duplicate`. The texts may be in a file: memory holds the
    digests of their bands, and the sequences of a few texts at a time.
    """

    @lru_cache(maxsize=_KNOWN_GRAMS)
    def grams(index: int) -> frozenset[str]:
        return _grams(texts[index])

    compared, digests = array("Q", _comparable(texts)), array("Q")
    for index in compared:
        digests.extend(_band_digests(texts[index]))
    bands = DigestTable((digest, compared[place // _BANDS]) for place, digest in enumerate(digests))
    for place, index in enumerate(compared):
        shared_bands: Counter[int] = Counter()
        for digest in digests[place * _BANDS : (place + 1) * _BANDS]:
            members = bands.find(digest)
            shared_bands.update(members[: min(bisect_left(members, index), _TEXTS_PER_BAND)])
        candidates = [earlier for earlier, _ in shared_bands.most_common(_CANDIDATES)]
        best = _most_similar(grams(index), candidates, grams) if candidates else None
        if best:
            yield NearPair(index, best[1], best[0])


def _comparable(texts: Sequence[str]) -> Iterator[int]:
    """The indices of each text once, and only if another one has the same numbers."""
    first = DigestTable((text_digest(text), index) for index, text in enumerate(texts))
    numbers = DigestTable(
        (text_digest(_numbers(text)), index)
        for index, text in enumerate(texts)
        if first.find(text_digest(text))[0] == index
    )
    for index, text in enumerate(texts):
        is_first = first.find(text_digest(text))[0] == index
        if is_first and numbers.count(text_digest(_numbers(text))) > 1:
            yield index


def _band_digests(text: str) -> Iterator[int]:
    return (text_digest(repr(band)) for band in _bands(_grams(text), _numbers(text)))


def _numbers(text: str) -> str:
    if not _DIGIT.search(text):
        return ""
    return " ".join(sorted(word for word in text.split() if _DIGIT.search(word)))


def _grams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


@lru_cache(maxsize=1 << 16)
def _hash(gram: str) -> int:
    return int.from_bytes(blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _bands(grams: frozenset[str], numbers: str) -> Iterator[tuple[object, ...]]:
    """The smallest hash of each bin, several bins to a band.

    An empty bin takes the value of the next one: with zeros, any two short texts would
    meet in a band whose bins are empty in both.
    """
    hashes = sorted(map(_hash, grams), reverse=True)
    smallest = [0] * _BINS
    for value in hashes:  # descending, so the smallest of each bin is assigned last
        smallest[value % _BINS] = value
    last = next(filter(None, smallest))
    for bin_ in reversed(range(_BINS)):
        last = smallest[bin_] = smallest[bin_] or last
    return (
        (start, numbers, *smallest[start : start + _BINS_PER_BAND])
        for start in range(0, _BINS, _BINS_PER_BAND)
    )


def _most_similar(
    own: frozenset[str], candidates: list[int], grams: Callable[[int], frozenset[str]]
) -> tuple[float, int] | None:
    """The most similar candidate, the earliest of equals."""
    best: tuple[float, int] | None = None
    size = len(own)
    for candidate in sorted(candidates):
        candidate_grams = grams(candidate)
        # Sets whose sizes differ by more than a quarter cannot reach the threshold.
        if not size * 4 <= len(candidate_grams) * 5 or not len(candidate_grams) * 4 <= size * 5:
            continue
        shared = len(own & candidate_grams)
        similarity = shared / (size + len(candidate_grams) - shared)
        if similarity >= SIMILAR and (best is None or similarity > best[0]):
            best = similarity, candidate
    return best
