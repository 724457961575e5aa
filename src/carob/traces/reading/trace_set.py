"""All traces of one input, grouped into sessions and in order of time."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from carob.schema import Json, Trace
from carob.traces.mapping.traces import merge_sessions
from carob.traces.reading.collect import CollectedTrace, Collection
from carob.traces.reading.spill import SpillReader, TraceSlot


class SessionSlots(NamedTuple):
    """The traces of one conversation, or one trace that belongs to none."""

    id: str
    slots: tuple[TraceSlot, ...]


class Shard(NamedTuple):
    """Some of the sessions, for another process to read."""

    sessions: tuple[SessionSlots, ...]

    def traces(self) -> Iterator[Trace]:
        """One trace per session."""
        reader = SpillReader()
        try:
            for session in self.sessions:
                yield _merge_session(session.id, [reader.load(slot) for slot in session.slots])
        finally:
            reader.close()


class TraceSet:
    """The sessions of an input. Closing it removes the traces that were spilled to disk."""

    def __init__(self, sessions: Sequence[SessionSlots], folder: Path) -> None:
        self.sessions = sessions
        self.folder = folder

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[Trace]:
        return Shard(tuple(self.sessions)).traces()

    def shards(self, size: int = 500) -> list[Shard]:
        """The sessions in shards of `size`, independent of the number of processes."""
        return [
            Shard(tuple(self.sessions[start : start + size])) for start in range(0, len(self), size)
        ]

    def close(self) -> None:
        """Remove the spilled traces."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> TraceSet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def group_sessions(collection: Collection) -> list[SessionSlots]:
    """Sessions by start, then by id, so that the order of the input plays no part."""
    groups: dict[tuple[str, str], list[CollectedTrace]] = {}
    for trace in (*collection.spans.values(), *_number_duplicates(collection.ready_traces)):
        if trace.slot is not None:
            # A conversation and a trace may have the same id, and are different sessions.
            key = ("c", trace.conversation) if trace.conversation else ("t", trace.id)
            groups.setdefault(key, []).append(trace)
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda trace: (trace.start, trace.id, trace.digest))
    ordered = sorted([(group[0].start, key) for key, group in groups.items()])
    return [_session_slots(key[1], groups[key]) for _, key in ordered]


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


def _merge_session(name: str, traces: list[Trace]) -> Trace:
    """One trace of a session, which lists the ids of the traces that it was merged from."""
    merged = next(merge_sessions(traces)) if len(traces) > 1 else traces[0]
    ids = list(dict.fromkeys([trace.id for trace in traces]))
    if ids == [name]:
        return merged
    attributes = merged.attributes | {"trace_ids": list[Json](ids)}
    return msgspec.structs.replace(merged, id=name, attributes=attributes)
