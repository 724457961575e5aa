"""The records of a file as a stream, each with the range of bytes that it came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, NamedTuple

from carob.errors import InputError
from carob.files.opening import UTF8_BOM
from carob.files.remote import (
    CopiedFile,
    RemoteFile,
    is_address,
    local_head,
    open_range,
    show_as,
)
from carob.schema import Json
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers import otlp
from carob.traces.containers.container import Record
from carob.traces.containers.detect import read_batches
from carob.traces.reading.event_files import group_event_files
from carob.traces.reading.json_values import is_divisible, read_lines, read_values

_BLOCK = 1 << 20


class FileRange(NamedTuple):
    """The bytes of a file that hold a value, so that it can be read again."""

    file: int
    start: int
    end: int


class Chunk(NamedTuple):
    """Some lines of a file, or all of it if `end` is `None`."""

    file: int
    """The index of the file in the input."""
    path: str
    """The path or address of the file, which messages and traces name."""
    start: int = 0
    end: int | None = None
    copy: str = ""
    """Where its bytes are, if not at the path: the copy of a file in object storage."""
    events: tuple[str, ...] = ()
    """The files of a folder that have one event each, read as one."""
    lines_before: int | None = None
    """The lines of the file before it, which problems need to name a line. Unless they are known,
    they are counted when there is a problem."""

    def open_path(self) -> Path:
        """The path to open."""
        return show_as(Path(self.copy), self.path) if self.copy else Path(self.path)


def whole_files(paths: list[Path]) -> list[Chunk]:
    """Each file as one chunk, and a folder of single events as one. Only plain text has an end:
    packed files cannot be read by offset."""
    index = {path: number for number, path in enumerate(paths)}
    return [_whole_chunk(index[group[0]], group) for group in group_event_files(paths)]


def _whole_chunk(index: int, group: list[Path]) -> Chunk:
    path = group[0]
    if len(group) > 1:
        return Chunk(index, str(path.parent), events=tuple(map(str, group)))
    return Chunk(
        index,
        str(path),
        end=path.stat().st_size if is_divisible(path) else None,
        copy=os.fspath(path) if isinstance(path, CopiedFile) else "",
    )


def whole_remote_file(file: RemoteFile) -> Chunk:
    """A file in object storage as one chunk, of which only the first bytes are read."""
    head = Chunk(0, file.address, end=file.size)
    with local_head(file.address) as copy:
        try:
            is_plain = is_divisible(copy)
        except InputError:  # such as an archive without its end: whoever reads it all knows better
            is_plain = False
    return head if is_plain else head._replace(end=None)


def divide(chunk: Chunk, parts: int) -> list[Chunk]:
    """Divide JSON lines into about equal parts; a file of any other layout stays in one piece."""
    if chunk.end is None or parts < 2:
        return [chunk]
    with _open_parts(chunk) as file:
        cuts = [chunk.start]
        for part in range(1, parts):
            file.seek(chunk.end * part // parts)
            file.readline()
            cuts.append(file.tell())
            # A value over several lines must not be cut: if the line after a cut is not a value,
            # this is not JSON lines.
            if not _starts_with_value(file.readline()):
                return [chunk]
    cuts = [*dict.fromkeys(cut for cut in cuts if cut < chunk.end), chunk.end]
    return [Chunk(chunk.file, chunk.path, *pair, chunk.copy) for pair in pairwise(cuts)]


def _open_parts(chunk: Chunk) -> AbstractContextManager[IO[bytes]]:
    if is_address(chunk.path) and not chunk.copy:
        return open_range(chunk.path)
    return chunk.open_path().open("rb")


def _starts_with_value(line: bytes) -> bool:
    if not line:
        return True
    try:
        otlp.decode(line)
    except (ValueError, RecursionError):
        return False
    return line.startswith(b"{")


def _count_lines_before(chunk: Chunk) -> int:
    if chunk.lines_before is not None:
        return chunk.lines_before
    total, left = 0, chunk.start
    with chunk.open_path().open("rb", buffering=0) as file:
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            total += block.count(b"\n")
            left -= len(block)
    return total


class RecordStream:
    """The records of a chunk."""

    def __init__(self, chunk: Chunk, report: ProblemListener) -> None:
        self.chunk = chunk
        self.report = report
        self.range: FileRange | None = None
        """Where the latest batch came from; `None` in files that cannot be read by offset."""

    def batches(self) -> Iterator[Iterable[Record]]:
        """Spans, log records and traces in the order of the file, one batch per value."""
        return read_batches(self._values(), source=self.chunk.path, report=self.report)

    def _values(self) -> Iterator[Json | bytes | otlp.Records]:
        for path in self.chunk.events:
            yield from read_values(Path(path), report=self.report, decode=otlp.decode)
        if self.chunk.events:
            return
        if self.chunk.end is None:
            yield from read_values(self.chunk.open_path(), report=self.report, decode=otlp.decode)
            return
        lines = _ChunkLines(self.chunk)
        values = read_lines(
            iter(lines),
            source=self.chunk.path,
            report=self.report,
            decode=otlp.decode,
            count_before=partial(_count_lines_before, self.chunk),
        )
        start = self.chunk.start
        for value in values:
            if lines.position > start:  # several values on the same lines share one range
                self.range = FileRange(self.chunk.file, start, lines.position)
                start = lines.position
            yield value


class _ChunkLines:
    """The lines of a chunk; `position` is the end of the latest one."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.position = chunk.start

    def __iter__(self) -> Iterator[bytes]:
        end = self.chunk.end or 0
        with self.chunk.open_path().open("rb", buffering=_BLOCK) as file:
            file.seek(self.position)
            for line in file:
                if self.position >= end:
                    break
                is_first = self.position == 0
                self.position += len(line)
                yield line.removeprefix(UTF8_BOM) if is_first else line


def reread(range_: FileRange, file: Chunk) -> Iterator[Record]:
    """Read the records of a range of a file again."""
    chunk = Chunk(range_.file, file.path, range_.start, range_.end, copy=file.copy)
    return chain.from_iterable(RecordStream(chunk, ignore).batches())
