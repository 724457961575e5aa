"""Receive what live agents send: acknowledged when it is on disk, indexed afterwards.

One thread writes all payloads that wait into one transaction, because a transaction costs much more
than a payload. Another one reads what was written and updates the index of sessions; after a crash
it goes on where it stopped.
"""

from __future__ import annotations

import gzip
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from types import TracebackType
from typing import NamedTuple, TypeAlias

from carob.api.serving.session_facts import INDEXED, update_traces
from carob.errors import CarobError, FormatError, OutputError
from carob.store import Database
from carob.store.inbox import (
    Payload,
    append_payloads,
    indexed_payload,
    next_payloads,
    open_inbox,
    sessions_since,
    write_index,
)
from carob.traces.containers.container import RecordOutline
from carob.traces.otlp_request import (
    Encoding,
    ExportRequest,
    Signal,
    outline_request,
    read_request,
)
from carob.traces.otlp_request import count_data_points as count_data_points

MAX_WAITING = 64 << 20
"""Bytes that may wait for the disk; beyond them the receiver asks to try again later."""
_MAX_BATCH = 8 << 20
"""Bytes that one transaction writes."""
_IDLE_SECONDS = 0.5
_NOTICED_AT_ONCE = 1000
_MAX_OUTLINED = 8 << 20
"""Bytes of payloads whose outlines are held until they are indexed."""

_Outline: TypeAlias = list[RecordOutline]


class _Waiting(NamedTuple):
    """A payload that waits for the disk."""

    payload: Payload
    outline: _Outline | None
    stored: Future[None]


class FullError(OutputError):
    """Too much waits for the disk; the sender should try again later."""


class Acceptance(NamedTuple):
    """What becomes of an export request."""

    stored: Future[None] | None
    """Done when the request is on disk; `None` if it holds nothing."""
    rejected: int
    """Records that were refused because their ids are invalid."""


class Refusals(NamedTuple):
    """Refusals since the start: spans with invalid ids, and whole requests."""

    records: int = 0
    requests: int = 0


class Ingest:
    """Writes payloads to the inbox of a store and keeps its index up to date."""

    def __init__(
        self, store: str, *, changed: Callable[[list[str]], None] = lambda _sessions: None
    ) -> None:
        self._store = store
        self._changed = changed
        """Called with the sessions that have new spans."""
        self._waiting: deque[_Waiting] = deque()
        self._size = 0
        self._ready = threading.Condition()
        self._written = threading.Event()
        self._stopping = False
        self._outlines = _Outlines()
        self._indexed: int | None = None
        """The last payload in the index, as far as this server knows."""
        self._noticed = _now()
        """The newest time in the index of a session that another server has indexed."""
        self.refused = Refusals()
        """Refusals since the start. Senders receive an error; the live page shows the counts."""
        self.problem: str | None = None
        """Why the last write failed, if it did."""
        with open_inbox(store):  # a store that cannot be opened is reported at once
            pass
        self._threads = [
            threading.Thread(target=work, name=f"carob-{work.__name__.strip('_')}", daemon=True)
            for work in (self._write, self._index)
        ]
        for thread in self._threads:
            thread.start()

    def accept(
        self, body: bytes, signal: Signal, encoding: Encoding, *, gzipped: bytes | None = None
    ) -> Acceptance:
        """Check an export request and hand it over, compressed as it came. Raises `FormatError` if
        it is none, and `FullError` if it cannot be stored now."""
        try:
            request = outline_request(body, signal, encoding, INDEXED)
        except CarobError:
            self._refuse(requests=1)
            raise
        if request.rejected and signal == "traces":  # most programs log without a trace
            self._refuse(records=request.rejected)
        if not request.records:
            return Acceptance(None, request.rejected)
        kind, packing = f"{signal}/{encoding}", "gzip" if gzipped else ""
        payload = Payload(_now(), kind, packing, gzipped or body)
        return Acceptance(self._add(payload, request.records), request.rejected)

    def _refuse(self, *, records: int = 0, requests: int = 0) -> None:
        with self._ready:  # receivers are threads
            known = self.refused
            self.refused = Refusals(known.records + records, known.requests + requests)

    def _add(self, payload: Payload, outline: _Outline) -> Future[None]:
        stored: Future[None] = Future()
        with self._ready:
            if self._stopping:
                raise FullError("the server is stopping")
            if self._size + len(payload.body) > MAX_WAITING:
                raise FullError("too much waits for the disk")
            # Behind a slow disk, outlines would take memory for as long as payloads wait. The index
            # can read these payloads again.
            is_slow = self._size > _MAX_OUTLINED
            self._waiting.append(_Waiting(payload, None if is_slow else outline, stored))
            self._size += len(payload.body)
            self._ready.notify()
        return stored

    def behind(self) -> bool:
        """Whether something that is on disk is not in the index yet."""
        with open_inbox(self._store) as database:
            return bool(next_payloads(database, indexed_payload(database)))

    def close(self) -> None:
        """Write what waits, and stop."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        self._written.set()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Ingest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self) -> None:
        """Write what waits, until asked to stop. After a failure the database is opened again: the
        connection to a server may be lost, and a full disk may have room by now."""
        while not self._stopping:
            try:
                with open_inbox(self._store) as database:
                    while batch := self._take():
                        self._write_batch(database, batch)
            except CarobError as error:
                self.problem = error.message
                self._refuse_waiting(error)
        self._refuse_waiting(FullError("the server is stopping"))

    def _write_batch(self, database: Database, batch: list[_Waiting]) -> None:
        try:
            last = append_payloads(database, [_pack(waiting.payload) for waiting in batch])
        except CarobError as error:
            _fail(batch, error)
            raise
        # Only now is anything acknowledged, after the commit: `kill -9` loses nothing of it.
        self.problem = None
        for number, waiting in enumerate(batch, last - len(batch) + 1):
            if waiting.outline is not None:
                self._outlines.add(number, waiting.outline, len(waiting.payload.body))
            # A sender that went away has cancelled it.
            if waiting.stored.set_running_or_notify_cancel():
                waiting.stored.set_result(None)
        self._written.set()

    def _take(self) -> list[_Waiting]:
        """Wait for payloads, and take as many as fit into one transaction. The last call before
        the end returns an empty list."""
        with self._ready:
            while not self._waiting and not self._stopping:
                self._ready.wait()
            batch: list[_Waiting] = []
            size = 0
            while self._waiting and (not batch or size < _MAX_BATCH):
                batch.append(self._waiting.popleft())
                size += len(batch[-1].payload.body)
            self._size -= size
            return batch

    def _refuse_waiting(self, error: CarobError) -> None:
        with self._ready:
            waiting, self._size = [*self._waiting], 0
            self._waiting.clear()
        _fail(waiting, error)
        if not self._stopping:
            time.sleep(_IDLE_SECONDS)  # the next request tries again, but not all at once

    def _index(self) -> None:
        """Follow the payloads, until asked to stop."""
        while True:
            try:
                with open_inbox(self._store) as database:
                    while self._index_next(database) or not self._stopping:
                        pass
                    return
            except CarobError as error:  # a full disk, or a lost connection
                self.problem = error.message
                if self._stopping:
                    return
                time.sleep(_IDLE_SECONDS)

    def _index_next(self, database: Database) -> bool:
        """Index some payloads, else wait. Returns whether there were any."""
        after = indexed_payload(database)
        if after != self._indexed:
            self._notice_others(database, after)
        outlines = self._outlines.take_after(after) or [
            (number, _outline_stored(payload)) for number, payload in next_payloads(database, after)
        ]
        if outlines:
            updates, last = update_traces(outlines), outlines[-1][0]
            changed = write_index(database, updates, after, last, _now())
            if changed is not None:  # else the next round starts behind what another server did
                self._indexed = last
                self._changed(changed)
            return True
        if self._stopping:
            return False
        self._written.wait(_IDLE_SECONDS)
        self._written.clear()
        return False

    def _notice_others(self, database: Database, indexed: int) -> None:
        """Say which sessions another server on the same store has indexed."""
        # Not at the start: whoever connects then reads all sessions anyway.
        is_start = self._indexed is None
        while (found := sessions_since(database, self._noticed, _NOTICED_AT_ONCE)) and not is_start:
            self._noticed = found[-1][1]
            self._changed([session for session, _ in found])
        self._indexed = indexed


class _Outlines:
    """Outlines of payloads that were written and wait for the index, which need not be read again.

    Of more than a few megabytes, the index reads the rest from disk, as after a restart.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_number: dict[int, tuple[_Outline, int]] = {}
        self._size = 0

    def add(self, number: int, outline: _Outline, size: int) -> None:
        """Keep the outline of a payload of some bytes; numbers only grow."""
        with self._lock:
            if self._size < _MAX_OUTLINED:
                self._by_number[number] = outline, size
                self._size += size

    def take_after(self, number: int) -> list[tuple[int, _Outline]]:
        """Remove and return the outlines right after an indexed payload, up to the first gap."""
        taken: list[tuple[int, _Outline]] = []
        with self._lock:
            for key in [*self._by_number]:
                # Payloads of another server, or of a slow disk, are in the gap. Without a stop here
                # the index would pass them, and their spans would never appear.
                if key > number + 1:
                    break
                outline, size = self._by_number.pop(key)
                self._size -= size
                if key == number + 1:
                    taken.append((key, outline))
                    number = key
        return taken


def _fail(batch: Iterable[_Waiting], error: CarobError) -> None:
    for waiting in batch:
        if waiting.stored.set_running_or_notify_cancel():
            waiting.stored.set_exception(error)


def _pack(payload: Payload) -> Payload:
    """Compress a payload that came as it is: what is not written costs less than compressing."""
    if payload.packing:
        return payload
    return payload._replace(packing="zlib", body=zlib.compress(payload.body, 1))


def read_payload(payload: Payload) -> ExportRequest:
    """Decode the records of a payload."""
    signal, _, encoding = payload.kind.partition("/")
    return read_request(unpack(payload), signal, encoding)  # pyright: ignore[reportArgumentType]


def _outline_stored(payload: Payload) -> _Outline:
    signal, _, encoding = payload.kind.partition("/")
    try:
        return outline_request(unpack(payload), signal, encoding, INDEXED).records  # pyright: ignore[reportArgumentType] - as stored
    except FormatError:  # checked on arrival, so the disk has changed it
        return []


def unpack(payload: Payload) -> bytes:
    """Return the body of a payload as it was before compression. Raises `FormatError` if it was
    damaged on disk."""
    try:
        if payload.packing == "gzip":  # zlib would stop after the first of several members
            return gzip.decompress(payload.body)
        return zlib.decompress(payload.body) if payload.packing else payload.body
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"damaged payload: {error}") from error


def _now() -> int:
    return time.time_ns() // 1000
