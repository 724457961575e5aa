"""Ids of cases: finding duplicates, and numbering derived ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b


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
        digest = id_digest(name)
        self._buckets[digest & 0xFF].append(digest)

    def digests(self) -> frozenset[int]:
        """The digests of the ids that were added more than once."""
        repeated: set[int] = set()
        for bucket in self._buckets:
            once: set[int] = set()
            for digest in bucket:
                (repeated if digest in once else once).add(digest)
        return frozenset(repeated)


def id_digest(name: str) -> int:
    """A 64-bit digest of an id."""
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def unique_ids(ids: Iterable[str]) -> Iterator[str]:
    """The ids with a number added to each that occurred before: `a`, `a-2`, `a-3`."""
    used: set[str] = set()
    for name in ids:
        yield make_unique(name, used)


def make_unique(name: str, used: set[str]) -> str:
    """An id that is not in `used`, and is added to it."""
    unique, number = name, 1
    while unique in used:
        number += 1
        unique = f"{name}-{number}"
    used.add(unique)
    return unique
