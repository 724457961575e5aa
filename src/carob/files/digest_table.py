"""Find texts by digests of eight bytes, and read mappings from a file that memory cannot hold."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TypeVar

from carob.files.spool import IN_MEMORY, PickleCodec, Spool, SpooledSequence

T = TypeVar("T")
_BUCKETS = 256


class DigestTable:
    """Numbers by the digest of a text, in two sorted arrays."""

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        # Sorting all pairs at once would take ten times the memory of the arrays, so they are
        # divided by their first byte and sorted part by part.
        buckets = [array("Q") for _ in range(_BUCKETS)]
        for pair in pairs:
            buckets[pair[0] >> 56].extend(pair)
        self._keys, self._values = array("Q"), array("Q")
        for bucket in buckets:
            for key, value in sorted(zip(bucket[::2], bucket[1::2], strict=True)):
                self._keys.append(key)
                self._values.append(value)

    def find(self, key: int) -> Sequence[int]:
        """Return the numbers of a digest in ascending order."""
        start = bisect_left(self._keys, key)
        return self._values[start : bisect_right(self._keys, key, start)]

    def count(self, key: int) -> int:
        """Return how many numbers a digest has."""
        start = bisect_left(self._keys, key)
        return bisect_right(self._keys, key, start) - start


def text_digest(text: str) -> int:
    """Return a digest of eight bytes that is the same in every process, unlike `hash`."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


class SpooledMapping(Mapping[str, T]):
    """Values by name in a file. Of several values with the same name, the last one counts."""

    def __init__(self, pairs: SpooledSequence[tuple[str, T]]) -> None:
        self._pairs = pairs
        digests = ((text_digest(name), place) for place, (name, _) in enumerate(pairs))
        self._table = DigestTable(digests)

    def __getitem__(self, name: str) -> T:
        for place in reversed(self._table.find(text_digest(name))):
            known, value = self._pairs[place]
            if known == name:
                return value
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        # Most names that are asked for are missing or unique: these need no access to the file.
        if not isinstance(name, str) or not self._table.find(text_digest(name)):
            return False
        try:
            return self[name] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def pairs(self) -> Iterator[tuple[str, T]]:
        """Yield names and values in one pass, unlike `items`, which looks each name up."""
        return iter(self._pairs)


def collect_mapping(pairs: Iterable[tuple[str, T]]) -> Mapping[str, T]:
    """Return a dictionary of few values, or a mapping that reads many of them from a file."""
    rest = iter(pairs)
    first = dict(islice(rest, IN_MEMORY))
    if len(first) < IN_MEMORY:
        return first
    spool = Spool(PickleCodec[tuple[str, T]](), in_memory=0)
    spool.extend(first.items())
    spool.extend(rest)
    items = spool.finish()
    return SpooledMapping(items) if isinstance(items, SpooledSequence) else dict(items)


def mapping_pairs(mapping: Mapping[str, T]) -> Iterable[tuple[str, T]]:
    """Return names and values in the order in which they were added."""
    return mapping.pairs() if isinstance(mapping, SpooledMapping) else mapping.items()
