"""The traces that were read so far, by trace id, in memory that does not grow with their number.

The newest are in a dict. Beyond that, they are rows of a scratch database, to which rows are only
appended: nearly every trace is complete when it is stored, and is not looked up again until all of
them are put in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from carob.schema.codec import CompactCodec
from carob.traces.reading.spill import SpilledTrace, TraceSlot
from carob.traces.reading.stream import FileRange

if TYPE_CHECKING:
    import sqlite3

IN_MEMORY = 20_000
"""Traces in the dict."""
_SCANS = 20
"""Lookups without an index. Building one pays off only if traces come in pieces."""
_BITS = 27
_MASK = (1 << _BITS) - 1
_LATEST = 1 << 127
"""Starts beyond are equal: time itself ends before."""


class SilentTrace(NamedTuple):
    """A trace without an agent, or in which nothing was said or done."""

    id: str
    is_used: bool
    blank: str | None


# An array in a file, not an object: encoding and decoding it takes half as long.
class CollectedTrace(msgspec.Struct, gc=False, array_like=True):
    """One trace, or with `slot=None` a trace id under which no agent worked."""

    id: str
    slot: TraceSlot | None
    start: int = 0
    conversation: str | None = None
    ranges: tuple[FileRange, ...] = ()
    digest: bytes = b""
    blank: str | None = None
    """The convention of a trace that records nothing that was said or done; else `None`."""
    is_empty: bool = False
    """Whether the trace has no turn at all."""
    delegated_by: str | None = None
    """The session of which a sub-agent's run is a part, if it is read as well."""
    place: str = ""
    """Where a part of a conversation stands, which decides between parts with equal starts: rows of
    a log often have no time."""

    @property
    def is_used(self) -> bool:
        """Whether an agent worked under this id."""
        return self.slot is not None

    @property
    def session(self) -> str:
        """What the trace is grouped by. A conversation and a trace may have the same id, and are
        different sessions."""
        return f"c{self.conversation}" if self.conversation else f"t{self.id}"


_CODEC = CompactCodec(CollectedTrace)


def find_silent(traces: Iterable[CollectedTrace]) -> Iterator[SilentTrace]:
    """Yield the traces without an agent, and those in which nothing was said or done."""
    for trace in traces:
        if not trace.is_used or trace.blank is not None:
            yield SilentTrace(trace.id, trace.is_used, trace.blank)


def have_turns(traces: Iterable[CollectedTrace]) -> bool:
    """Return whether any trace has a turn."""
    return any(not trace.is_empty for trace in traces)


class TraceTable(MutableMapping[str, CollectedTrace]):
    """A dict of traces that moves to a file as it grows."""

    def __init__(self, locate: Callable[[], Path], in_memory: int | None = None) -> None:
        self._locate = locate
        self._in_memory = IN_MEMORY if in_memory is None else in_memory
        self._recent: dict[str, CollectedTrace] = {}
        self._rows: _Rows | None = None

    @property
    def is_large(self) -> bool:
        """Whether traces are on disk."""
        return self._rows is not None

    def __contains__(self, key: object) -> bool:
        return key in self._recent or (
            self._rows is not None and self._rows.find(str(key)) is not None
        )

    def __getitem__(self, key: str) -> CollectedTrace:
        trace = self._recent.get(key) or (self._rows.find(key) if self._rows else None)
        if trace is None:
            raise KeyError(key)
        return trace

    def __setitem__(self, key: str, trace: CollectedTrace) -> None:
        self._recent[key] = trace
        if len(self._recent) > self._in_memory:
            self._move_to_disk()

    def __delitem__(self, key: str) -> None:
        if self._recent.pop(key, None) is None and not (self._rows and self._rows.remove(key)):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (trace.id for trace in self.values())

    def __len__(self) -> int:
        return len(self._recent) + (self._rows.count() if self._rows else 0)

    def values(self) -> Any:
        """All traces, in no particular order."""
        yield from [*self._recent.values()]
        if self._rows:
            yield from self._rows.all()

    def silent(self) -> Iterator[SilentTrace]:
        """Those without an agent, or in which nothing was said or done, without loading them."""
        yield from find_silent(self._recent.values())
        if self._rows:
            yield from self._rows.silent()

    def has_turns(self) -> bool:
        """Whether any trace has a turn."""
        found = have_turns(self._recent.values())
        return found or (self._rows is not None and self._rows.has_turns())

    def _move_to_disk(self) -> None:
        """Move everything but traces that are in memory themselves."""
        movable = [trace for trace in self._recent.values() if is_on_disk(trace)]
        if self._rows is None:
            # Traces in memory are as many as fit, and stay. Without this, each of them would be
            # looked at again whenever the dict is full.
            self._in_memory += len(self._recent) - len(movable)
            if not movable:
                return
            self._rows = _Rows(self._locate())
        self._rows.append(movable)
        for trace in movable:
            del self._recent[trace.id]

    def sessions(self, more: Iterable[CollectedTrace]) -> Iterator[tuple[str, list[TraceSlot]]]:
        """Sessions by start, then by id, with the slots of their traces in order."""
        rows = self._rows or _Rows(self._locate())
        rows.append([*self._recent.values(), *more])
        yield from rows.sessions()
        rows.close()


def is_on_disk(trace: CollectedTrace) -> bool:
    """Whether the trace itself takes no memory."""
    return trace.slot is None or isinstance(trace.slot, SpilledTrace)


class _Rows:
    """Traces in a scratch database."""

    def __init__(self, path: Path) -> None:
        import sqlite3  # late: slow, and only large inputs need it

        self._file: sqlite3.Connection = sqlite3.connect(path, isolation_level=None)
        # The file is scratch: nothing is lost with it that a crash would not lose anyway.
        self._file.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE traces"
            " (id TEXT, session TEXT, start BLOB, place TEXT, digest BLOB,"
            " used, blank, empty, data BLOB)"
        )
        self._known = bytearray(1 << (_BITS - 3))
        """Bits of the hashes of all ids: an id without its bits is new."""
        self._lookups = 0

    def append(self, traces: Iterable[CollectedTrace]) -> None:
        self._file.execute("BEGIN")
        rows = map(self._row, traces)
        self._file.executemany("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._file.execute("COMMIT")

    def _row(self, trace: CollectedTrace) -> tuple[object, ...]:
        for bit in _hash_bits(trace.id):
            self._known[bit >> 3] |= 1 << (bit & 7)
        start = max(-_LATEST, min(trace.start, _LATEST - 1)) + _LATEST
        facts = (trace.slot is not None, trace.blank, trace.is_empty)
        key = (trace.id, trace.session, start.to_bytes(16, "big"), trace.place, trace.digest)
        return *key, *facts, _CODEC.encode(trace)

    def find(self, key: str) -> CollectedTrace | None:
        if not all(self._known[bit >> 3] >> (bit & 7) & 1 for bit in _hash_bits(key)):
            return None
        self._lookups += 1
        if self._lookups == _SCANS:
            self._file.execute("CREATE INDEX by_id ON traces (id)")
        row = self._file.execute("SELECT data FROM traces WHERE id = ?", (key,))
        return next(map(_trace, row), None)

    def remove(self, key: str) -> bool:
        return self._file.execute("DELETE FROM traces WHERE id = ?", (key,)).rowcount > 0

    def count(self) -> int:
        return self._file.execute("SELECT COUNT(*) FROM traces").fetchone()[0]

    def all(self) -> Iterator[CollectedTrace]:
        return map(_trace, self._file.execute("SELECT data FROM traces"))

    def silent(self) -> Iterator[SilentTrace]:
        sql = "SELECT id, used, blank FROM traces WHERE NOT used OR blank IS NOT NULL"
        return (SilentTrace(id, bool(used), blank) for id, used, blank in self._file.execute(sql))

    def has_turns(self) -> bool:
        return self._file.execute("SELECT 1 FROM traces WHERE NOT empty").fetchone() is not None

    def sessions(self) -> Iterator[tuple[str, list[TraceSlot]]]:
        # Most traces are a session of their own, and then a plain order takes a third of the time.
        first = "MIN(start) OVER (PARTITION BY session)" if self._has_conversations() else "start"
        sql = (
            f"SELECT session, data FROM (SELECT *, {first} AS first FROM traces WHERE used)"  # noqa: S608
            " ORDER BY first, session, start, place, id, digest"
        )
        last: str | None = None
        slots: list[TraceSlot] = []
        for session, data in self._file.execute(sql):
            if session != last:
                if last is not None:
                    yield last[1:], slots
                last, slots = session, []
            if (slot := _CODEC.decode(data).slot) is not None:
                slots.append(slot)
        if last is not None:
            yield last[1:], slots

    def _has_conversations(self) -> bool:
        sql = "SELECT 1 FROM traces WHERE used GROUP BY session HAVING COUNT(*) > 1 LIMIT 1"
        return self._file.execute(sql).fetchone() is not None

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        self._file.close()  # nobody has to read a collection to its end


def _trace(row: tuple[bytes]) -> CollectedTrace:
    return _CODEC.decode(row[0])


def _hash_bits(key: str) -> tuple[int, int, int]:
    value = hash(key)
    return value & _MASK, value >> 18 & _MASK, value >> 37 & _MASK
