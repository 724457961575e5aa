"""All that was read from the files of one input, as sessions in the order of time."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from carob.schema import Json, Trace
from carob.traces.mapping.sessions import sessions
from carob.traces.reading.collect import Collected, Found
from carob.traces.reading.spill import Shelf, Slot


class Session(NamedTuple):
    """The traces of one conversation, or one trace."""

    id: str
    slots: tuple[Slot, ...]


class Shard(NamedTuple):
    """Some of the sessions, for another process to read."""

    sessions: tuple[Session, ...]

    def traces(self) -> Iterator[Trace]:
        """The sessions as traces."""
        shelf = Shelf()
        try:
            for session in self.sessions:
                yield _joined(session.id, [shelf.take(slot) for slot in session.slots])
        finally:
            shelf.close()


class Recordings:
    """The sessions of an input. What was put aside on disk is removed when they are closed."""

    def __init__(self, sessions: Sequence[Session], folder: Path) -> None:
        self.sessions = sessions
        self.folder = folder

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[Trace]:
        return Shard(tuple(self.sessions)).traces()

    def shards(self, size: int = 500) -> list[Shard]:
        """The sessions in lots of `size`, whatever the number of processes."""
        return [Shard(tuple(self.sessions[at : at + size])) for at in range(0, len(self), size)]

    def close(self) -> None:
        """Remove what was put aside."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Recordings:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def in_order(made: Collected) -> list[Session]:
    """Sessions by their start, then by their id: the order of the input plays no part."""
    grouped: dict[tuple[str, str], list[Found]] = {}
    for found in (*made.spans.values(), *_once(made.told)):
        if found.slot is not None:
            named = found.conversation
            grouped.setdefault(("c", named) if named else ("t", found.id), []).append(found)
    for group in grouped.values():
        if len(group) > 1:
            group.sort(key=lambda found: (found.start, found.id, found.digest))
    ordered = sorted([(group[0].start, key) for key, group in grouped.items()])
    return [_session(key[1], grouped[key]) for _, key in ordered]


def _session(name: str, group: list[Found]) -> Session:
    return Session(name, tuple([found.slot for found in group if found.slot is not None]))


def _once(told: Iterable[Found]) -> Iterator[Found]:
    """A recording that was delivered twice counts once; another one of the same id is numbered."""
    by_id: dict[str, dict[bytes, Found]] = {}
    for found in told:
        by_id.setdefault(found.id, {}).setdefault(found.digest, found)
    for name, group in by_id.items():
        ordered = sorted(group.values(), key=lambda found: (found.start, found.digest))
        for number, found in enumerate(ordered, 1):
            numbered = f"{name}#{number}" if number > 1 else name
            yield msgspec.structs.replace(found, id=numbered)


def _joined(name: str, traces: list[Trace]) -> Trace:
    """One trace of a session; the ids of what it was joined from are kept."""
    joined = next(sessions(traces)) if len(traces) > 1 else traces[0]
    ids = list(dict.fromkeys([trace.id for trace in traces]))
    if ids == [name]:
        return joined
    attributes = joined.attributes | {"trace_ids": list[Json](ids)}
    return msgspec.structs.replace(joined, id=name, attributes=attributes)
