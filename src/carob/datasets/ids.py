"""Ids that are there twice, found in eight bytes per case."""

from __future__ import annotations

from array import array
from hashlib import blake2b


class Repeated:
    """Which of many ids were seen more than once; it may, very rarely, name one too many."""

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(256)]

    def see(self, name: str) -> None:
        found = mark(name)
        self._buckets[found & 0xFF].append(found)

    def marks(self) -> frozenset[int]:
        """The marks of the ids that were seen more than once."""
        repeated: set[int] = set()
        for bucket in self._buckets:
            seen: set[int] = set()
            for found in bucket:
                (repeated if found in seen else seen).add(found)
        return frozenset(repeated)


def mark(name: str) -> int:
    """A number that stands for an id."""
    data = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest())
