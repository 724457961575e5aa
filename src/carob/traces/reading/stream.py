"""The records of a file as a stream, each with the place that it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from carob.schema import Json
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers import Record, otlp, read_batches
from carob.traces.reading.json_values import is_plain, values, values_in

_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """The bytes of a file that hold a value: they can be read again."""

    file: int
    start: int
    end: int


class Chunk(NamedTuple):
    """Some lines of a file, or all of it if `end` is `None`."""

    file: int
    """The number of the file in the input."""
    path: str
    start: int = 0
    end: int | None = None
    before: int = 0
    """The number of lines ahead of it."""


def whole(paths: list[Path]) -> list[Chunk]:
    """Each file as one chunk; only what is plain text has places."""
    return [
        Chunk(number, str(path), end=path.stat().st_size if is_plain(path) else None)
        for number, path in enumerate(paths)
    ]


def divided(chunk: Chunk, parts: int) -> list[Chunk]:
    """JSON lines in about equal parts; all else stays as it is."""
    if chunk.end is None or parts < 2:
        return [chunk]
    with Path(chunk.path).open("rb") as file:
        cuts = [chunk.start]
        for part in range(1, parts):
            file.seek(chunk.end * part // parts)
            file.readline()
            cuts.append(file.tell())
            if not _starts_a_value(file.readline()):
                return [chunk]
        cuts = [*dict.fromkeys(cut for cut in cuts if cut < chunk.end), chunk.end]
        counts = _lines_before(chunk.path, cuts[:-1])
    pairs = zip(cuts[:-1], cuts[1:], counts, strict=True)
    return [Chunk(chunk.file, chunk.path, *pair) for pair in pairs]


def _starts_a_value(line: bytes) -> bool:
    if not line:
        return True
    try:
        otlp.decode(line)
    except (ValueError, RecursionError):
        return False
    return line.startswith(b"{")


def _lines_before(path: str, cuts: list[int]) -> list[int]:
    counts: list[int] = []
    total = 0
    with Path(path).open("rb", buffering=0) as file:
        for cut in cuts:
            while (left := cut - file.tell()) > 0:
                total += file.read(min(left, _BLOCK)).count(b"\n")
            counts.append(total)
    return counts


class Stream:
    """The records of a chunk; `place` is where the latest came from, if that is a place."""

    def __init__(self, chunk: Chunk, report: ProblemListener) -> None:
        self.chunk = chunk
        self.report = report
        self.place: Place | None = None

    def batches(self) -> Iterator[Iterable[Record]]:
        """Spans, log records and traces in the order of the file, by value."""
        return read_batches(self._values(), source=self.chunk.path, report=self.report)

    def _values(self) -> Iterator[Json | bytes | otlp.Records]:
        if self.chunk.end is None:
            yield from values(self.chunk.path, report=self.report, decode=otlp.decode)
            return
        lines = _Lines(self.chunk)
        found = values_in(
            iter(lines),
            source=self.chunk.path,
            report=self.report,
            decode=otlp.decode,
            before=self.chunk.before,
        )
        mark = self.chunk.start
        for value in found:
            if lines.at > mark:  # what was gathered may hold several values: they share the place
                self.place = Place(self.chunk.file, mark, lines.at)
                mark = lines.at
            yield value


class _Lines:
    """The lines of a chunk; `at` is the end of the latest one."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.at = chunk.start

    def __iter__(self) -> Iterator[bytes]:
        end = self.chunk.end or 0
        with Path(self.chunk.path).open("rb", buffering=_BLOCK) as file:
            file.seek(self.at)
            for line in file:
                if self.at >= end:
                    break
                first = self.at == 0
                self.at += len(line)
                yield line.removeprefix(_BOM) if first else line


def again(place: Place, path: str) -> Iterator[Record]:
    """The records of one place, as they were read before."""
    chunk = Chunk(place.file, path, place.start, place.end)
    return chain.from_iterable(Stream(chunk, ignore).batches())
