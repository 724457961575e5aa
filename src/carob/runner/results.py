"""Results in the order of the dataset, sorted in memory that does not grow with their number.

Batches finish in any order. Results are sorted by the position of their case, then by trace; where
a row of golden data repeats both, by batch. Sorted runs of results are written to a scratch file
and merged at the end, so that the order depends on nothing but the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from carob.files.scratch import make_scratch_folder, remove_folder
from carob.schema import CaseResult
from carob.schema.base import prepare_type
from carob.schema.codec import RESULTS

IN_MEMORY = 10_000
"""Results that stay in memory, about a kilobyte each: writing, sorting and reading them again takes
as long as scoring them."""
_BLOCK = 128 << 10
"""Bytes of a sorted run that are in memory while runs are merged."""
_MAX_RUNS = 64
"""Sorted runs that are merged at once: each is an open file."""
_HEADER = 4


class ResultKey(NamedTuple):
    """Where a result belongs in the run."""

    position: int
    """The position of the case in the dataset; 0 without golden data."""
    trace: str
    batch: int
    number: int
    """The number of the result in its batch."""


SortedResult: TypeAlias = tuple[ResultKey, "CaseResult | bytes"]
"""A result, decoded or as JSON. Keys are unique, so results are never compared."""


class ResultSorter:
    """Sorts results. More than `in_memory` of them are sorted on disk."""

    def __init__(self, in_memory: int | None = None) -> None:
        self.in_memory = IN_MEMORY if in_memory is None else in_memory
        self._held: list[SortedResult] = []
        self._folder: Path | None = None
        self._runs: list[Path] = []
        self._written = 0

    def add(self, key: ResultKey, result: CaseResult | bytes) -> None:
        """Add a result."""
        self._held.append((key, result))
        if len(self._held) > self.in_memory:
            self._write_run()

    def __iter__(self) -> Iterator[SortedResult]:
        """Yield all results in order."""
        self._held.sort(key=_key)
        return merge(self._held, *map(_read_run, self._runs), key=_key)

    def close(self) -> None:
        """Remove the scratch files."""
        if self._folder:
            remove_folder(self._folder)

    def _write_run(self) -> None:
        # Without this, ten million results would need more open files than a process may have.
        if len(self._runs) == _MAX_RUNS:
            merged = self._write(merge(*map(_read_run, self._runs), key=_key))
            for path in self._runs:
                path.unlink()
            self._runs = [merged]
        self._held.sort(key=_key)
        self._runs.append(self._write(self._held))
        self._held.clear()

    def _write(self, items: Iterable[SortedResult]) -> Path:
        if self._folder is None:
            self._folder = make_scratch_folder()
        self._written += 1
        path = self._folder / f"{self._written}"
        with path.open("wb", buffering=_BLOCK) as file:
            for data in _encode(items):
                file.write(len(data).to_bytes(_HEADER, "little"))
                file.write(data)
        return path


_Line: TypeAlias = tuple[int, str, int, int, bytes]


def _key(item: SortedResult) -> ResultKey:
    return item[0]


def _encode(items: Iterable[SortedResult]) -> Iterator[bytes]:
    encode = msgspec.msgpack.Encoder().encode
    for key, result in items:
        data = result if isinstance(result, bytes) else RESULTS.encode(result)
        yield encode((*key, data))


def _read_run(path: Path) -> Iterator[SortedResult]:
    decode = msgspec.msgpack.Decoder(prepare_type(_Line)).decode
    with path.open("rb", buffering=_BLOCK) as file:
        while header := file.read(_HEADER):
            position, trace, batch, number, data = decode(
                file.read(int.from_bytes(header, "little"))
            )
            yield ResultKey(position, trace, batch, number), data
