"""All traces of one input, grouped into sessions and in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple

import msgspec

from carob.files.scratch import ScratchFolder
from carob.files.spool import Spool, SpooledSequence
from carob.schema import Json, Trace
from carob.schema.codec import CompactCodec
from carob.traces.mapping.sessions import merge_traces
from carob.traces.reading.collection import Collection
from carob.traces.reading.spill import SpillReader, TraceSlot
from carob.traces.reading.trace_table import CollectedTrace, TraceTable


class SessionSlots(NamedTuple):
    """The traces of one conversation, or one trace that belongs to none."""

    id: str
    slots: tuple[TraceSlot, ...]


class Shard(NamedTuple):
    """Some of the sessions, for another process to read."""

    sessions: Sequence[SessionSlots]
    start: int
    stop: int

    def traces(self) -> Iterator[Trace]:
        """One trace per session."""
        return _read_sessions(self.sessions[index] for index in range(self.start, self.stop))


class TraceSet:
    """The sessions of an input. Closing it removes the traces that were spilled to disk."""

    def __init__(self, sessions: Sequence[SessionSlots], folder: ScratchFolder) -> None:
        self.sessions = sessions
        self.folder = folder

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[Trace]:
        return _read_sessions(self.sessions)

    def shards(self, size: int = 500) -> list[Shard]:
        """The sessions in shards of `size`, independent of the number of processes."""
        return [self._shard(start, size) for start in range(0, len(self), size)]

    def _shard(self, start: int, size: int) -> Shard:
        # A worker opens the file by its path; a slice would be copied to it session by session.
        if isinstance(self.sessions, SpooledSequence):
            return Shard(self.sessions, start, min(start + size, len(self)))
        part = self.sessions[start : start + size]
        return Shard(part, 0, len(part))

    def close(self) -> None:
        """Remove the spilled traces."""
        self.folder.remove()

    def __enter__(self) -> TraceSet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _read_sessions(sessions: Iterable[SessionSlots]) -> Iterator[Trace]:
    reader = SpillReader()
    try:
        for session in sessions:
            yield _merge_session(session.id, [reader.load(slot) for slot in session.slots])
    finally:
        reader.close()


def group_sessions(collection: Collection) -> Sequence[SessionSlots]:
    """Sessions by start, then by id, so that the order of the input plays no part. Many of them are
    kept in a file."""
    ready = _join_delegated(list(_number_duplicates(collection.ready_traces)))
    if isinstance(collection.spans, TraceTable) and collection.spans.is_large:
        spool = Spool(CompactCodec(SessionSlots), in_memory=0)
        for name, slots in collection.spans.sessions(ready):
            spool.append(SessionSlots(name, tuple(slots)))
        return spool.finish()
    return _group_in_memory([*collection.spans.values(), *ready])


def _group_in_memory(traces: Iterable[CollectedTrace]) -> list[SessionSlots]:
    groups: dict[str, list[CollectedTrace]] = {}
    for trace in traces:
        if trace.slot is not None:
            groups.setdefault(trace.session, []).append(trace)
    for group in groups.values():
        if len(group) > 1:
            # By place, id and content where traces start together, so that the order of files never
            # shows.
            group.sort(key=lambda trace: (trace.start, trace.place, trace.id, trace.digest))
    ordered = sorted([(group[0].start, session) for session, group in groups.items()])
    return [_session_slots(session[1:], groups[session]) for _, session in ordered]


def _session_slots(name: str, group: list[CollectedTrace]) -> SessionSlots:
    return SessionSlots(name, tuple([trace.slot for trace in group if trace.slot is not None]))


def _number_duplicates(traces: Iterable[CollectedTrace]) -> Iterator[CollectedTrace]:
    """A trace that was delivered twice counts once; others of the same id get a number."""
    by_id: dict[str, dict[bytes, CollectedTrace]] = {}
    for trace in traces:
        by_id.setdefault(trace.id, {}).setdefault(trace.digest, trace)
    for name, group in by_id.items():
        # Numbered by start and content, so that the same files in another order give the same ids.
        ordered = sorted(group.values(), key=lambda trace: (trace.start, trace.digest))
        for number, trace in enumerate(ordered, 1):
            numbered = f"{name}#{number}" if number > 1 else name
            yield msgspec.structs.replace(trace, id=numbered)


def _join_delegated(traces: list[CollectedTrace]) -> list[CollectedTrace]:
    """The runs of sub-agents become parts of their sessions, as far as these were read."""
    sessions = {trace.conversation for trace in traces} - {None}
    return [
        msgspec.structs.replace(trace, conversation=trace.delegated_by)
        if trace.delegated_by in sessions
        else trace
        for trace in traces
    ]


def _merge_session(name: str, traces: list[Trace]) -> Trace:
    """One trace of a session, which lists the ids of the traces that it was merged from."""
    if len(traces) == 1:
        merged = traces[0]
        if merged.id == name:
            return merged
    else:
        merged = merge_traces(name, traces)
    ids = list(dict.fromkeys([trace.id for trace in traces]))
    if ids == [name]:
        return merged
    attributes = merged.attributes | {"trace_ids": list[Json](ids)}
    return msgspec.structs.replace(merged, id=name, attributes=attributes)
