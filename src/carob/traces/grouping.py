"""Divide trace files into groups that can be read apart from each other, on one machine or many.

Every chunk is read once to learn which traces and sessions it has. That pass, too, can be made by
any number of processes: it needs nothing but the chunk.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias

from carob.errors import CarobError
from carob.files.atomic import FileContent
from carob.files.digest_table import text_digest
from carob.files.remote import copy_name, copy_range, is_address, list_files
from carob.files.scratch import ScratchFolder
from carob.schema.problem import ignore
from carob.traces.read import PART_SIZE, collect_chunks, report_unused
from carob.traces.reading.stream import Chunk, divide, whole_files, whole_remote_file

_PARTS = 64
_PART_RANGE = 2**64 // _PARTS


class ChunkFacts(NamedTuple):
    """What the first pass learns about a chunk."""

    keys: bytes | None
    """Digests of its traces and sessions, 8 bytes each and sorted; `None` if it cannot be read on
    its own."""
    digest: bytes
    """The digest of its bytes."""
    lines: int
    """The number of its lines."""


Survey: TypeAlias = Callable[[Callable[[Chunk], ChunkFacts], Sequence[Chunk]], Iterable[ChunkFacts]]
"""Calls a function with each chunk, like `map`, in this process or in others."""


class ChunkGroup(NamedTuple):
    """Chunks that share no trace and no session with others."""

    chunks: tuple[Chunk, ...]
    digests: tuple[bytes, ...]
    """The digest of each chunk."""


def group_chunks(
    paths: Sequence[Path | str], size: int = PART_SIZE, survey: Survey = map
) -> list[ChunkGroup]:
    """Divide files into groups: no trace and no session has parts in two of them.

    JSON lines are divided into ranges of about `size` bytes, other files stay whole. Where a range
    cannot be read on its own, whole files are grouped; where a file cannot, such as logs of spans
    that are elsewhere, it is read with all others. Files in object storage are named by their
    addresses; only whoever reads a range of them copies it.
    """
    files = _whole_files(paths)
    ranges = [part for file in files for part in divide(file, -(-(file.end or 0) // size))]
    if len(ranges) > len(files):
        facts = [*survey(partial(survey_chunk, is_whole=False), ranges)]
        if groups := _connect(_number_lines(ranges, facts), facts):
            return groups
    facts = [*survey(partial(survey_chunk, is_whole=True), files)]
    everything = ChunkGroup(tuple(files), tuple(fact.digest for fact in facts))
    return _connect(files, facts) or [everything]


def survey_chunk(chunk: Chunk, *, is_whole: bool) -> ChunkFacts:
    """Read a chunk on its own."""
    with local_chunks([chunk]) as (local,):
        digest, lines = _read_content(local)
        return ChunkFacts(_session_keys(local, is_whole=is_whole), digest, lines)


def content_digest(chunk: Chunk) -> bytes:
    """The digest of the bytes of a chunk."""
    return _read_content(chunk)[0]


@contextmanager
def local_chunks(chunks: Sequence[Chunk]) -> Generator[list[Chunk]]:
    """Copy the chunks of files in object storage, each only as far as it goes, until the block
    ends."""
    folder = ScratchFolder()
    try:
        yield [
            _copy_chunk(chunk, folder.path / str(number))
            if is_address(chunk.path) and not chunk.copy
            else chunk
            for number, chunk in enumerate(chunks)
        ]
    finally:
        folder.remove()


def _copy_chunk(chunk: Chunk, copies: Path) -> Chunk:
    copies.mkdir()
    copy = copies / copy_name(chunk.path)
    copy_range(chunk.path, chunk.start, chunk.end, copy)
    return chunk._replace(copy=str(copy))


def _whole_files(paths: Sequence[Path | str]) -> list[Chunk]:
    # All local files at once: those of a folder with one event each are one chunk.
    files = whole_files([path for path in paths if isinstance(path, Path)])
    for address in paths:
        if not isinstance(address, Path):
            files += map(whole_remote_file, list_files(address))
    return [file._replace(file=index) for index, file in enumerate(files)]


def _number_lines(ranges: Sequence[Chunk], facts: Sequence[ChunkFacts]) -> list[Chunk]:
    """Tell each range how many lines come before it: problems name lines of the file, and whoever
    copies only a range cannot count them."""
    numbered: list[Chunk] = []
    before = 0
    for chunk, fact in zip(ranges, facts, strict=True):
        before = before if chunk.start else 0
        numbered.append(chunk._replace(lines_before=before))
        before += fact.lines
    return numbered


def _connect(chunks: Sequence[Chunk], facts: Sequence[ChunkFacts]) -> list[ChunkGroup] | None:
    """Join the chunks that share a trace or a session; `None` if one cannot be read on its own."""
    if any(fact.keys is None for fact in facts):
        return None
    groups = list(range(len(chunks)))  # the first chunk of the group of each chunk

    def find(number: int) -> int:
        while groups[number] != number:
            groups[number] = number = groups[groups[number]]
        return number

    keys = [memoryview(fact.keys or b"").cast("Q") for fact in facts]
    # Part by part of all digests: a table of those of ten million traces would take gigabytes.
    for part in range(_PARTS):
        owners: dict[int, int] = {}
        for number, sorted_keys in enumerate(keys):
            start = bisect_left(sorted_keys, part * _PART_RANGE)
            end = bisect_left(sorted_keys, (part + 1) * _PART_RANGE, start)
            for key in sorted_keys[start:end]:
                first, second = sorted((find(owners.setdefault(key, number)), find(number)))
                groups[second] = first
    members: dict[int, list[int]] = {}
    for number in range(len(chunks)):
        members.setdefault(find(number), []).append(number)
    return [
        ChunkGroup(
            tuple(chunks[number]._replace(file=index) for index, number in enumerate(numbers)),
            tuple(facts[number].digest for number in numbers),
        )
        for numbers in members.values()
    ]


def _session_keys(chunk: Chunk, *, is_whole: bool) -> bytes | None:
    folder = ScratchFolder()
    try:
        chunks = [chunk._replace(file=0)]
        collection = collect_chunks(chunks, folder, ignore, keep_spans=False, progress=ignore)
        report_unused(collection, chunks, ignore)  # raises if nothing in it can be used
        if collection.orphan_logs or collection.log_only_traces or collection.untraced_spans:
            return None
        # Only spans say which trace they belong to. Elsewhere the first line of a file may name
        # the session of all others, so that a range could not be told from another session.
        if collection.ready_traces and not is_whole:
            return None
        traces = [*collection.spans.values(), *collection.ready_traces]
        names = {name for trace in traces for name in (trace.session, f"t{trace.id}")}
        names |= {f"c{trace.delegated_by}" for trace in traces if trace.delegated_by}
        return array("Q", sorted(set(map(text_digest, names)))).tobytes() or None
    except CarobError:
        return None
    finally:
        folder.remove()


def _read_content(chunk: Chunk) -> tuple[bytes, int]:
    digest, lines = blake2b(digest_size=16), 0
    for path in map(Path, chunk.events) if chunk.events else (chunk.open_path(),):
        for block in FileContent(path, chunk.start, chunk.end):
            digest.update(block)
            lines += block.count(b"\n")
    return digest.digest(), lines
