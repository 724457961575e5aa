"""Ids: finding those that repeat, and numbering them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from carob.files.digest_table import text_digest


class RepeatedIds:
    """Collects ids and finds those that occur more than once, in eight bytes per id.

    Only digests are stored, so that memory does not grow with the length of the ids. A collision
    may, very rarely, report an id too many: the caller compares the ids themselves.
    """

    def __init__(self) -> None:
        # One set over all digests would take several times the memory of the arrays; with buckets,
        # only a part of the digests is in a set at any time.
        self._buckets = [array("Q") for _ in range(256)]

    def add(self, name: str) -> None:
        """Count an id."""
        digest = text_digest(name)
        self._buckets[digest & 0xFF].append(digest)

    def digests(self) -> frozenset[int]:
        """The digests of the ids that were added more than once."""
        repeated: set[int] = set()
        for bucket in self._buckets:
            once: set[int] = set()
            for digest in bucket:
                (repeated if digest in once else once).add(digest)
        return frozenset(repeated)


def unique_ids(ids: Iterable[str]) -> Iterator[str]:
    """The ids with a number added to each that occurred before: `a`, `a-2`, `a-3`."""
    used: dict[str, int] = {}
    for name in ids:
        yield make_unique(name, used)


def make_unique(name: str, used: dict[str, int]) -> str:
    """An id that is not in `used`, and is added to it. Each id there has the last number that was
    added to it: a file with the same row fifty thousand times would take minutes otherwise."""
    if name not in used:
        used[name] = 1
        return name
    number = used[name]
    while (unique := f"{name}-{number + 1}") in used:
        number += 1
    used[name], used[unique] = number + 1, 1
    return unique
