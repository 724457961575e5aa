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

from carob.errors import CarobError, FormatError, OutputError
from carob.schema import Json
from carob.store import Database
from carob.store.inbox import (
    Payload,
    StoredPayload,
    TraceUpdate,
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
    check_request,
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
_SESSION_NAMES = ("carob.session.name", "agentevals.session_name")
_CONVERSATIONS = ("gen_ai.conversation.id",)
_SESSIONS = ("session.id", "langfuse.session.id")
_AGENTS = ("gen_ai.agent.name", "agent.name", "agent_name")
_NAMED, _CONVERSED, _IDENTIFIED = 3, 2, 1
"""How sure the session of a trace is: by its name, by the conversation, or by the session id."""
_INDEXED = frozenset((*_CONVERSATIONS, *_SESSIONS, *_AGENTS))


_Waiting: TypeAlias = "tuple[Payload, Future[None]]"


class FullError(OutputError):
    """Too much waits for the disk; the sender should try again later."""


class Acceptance(NamedTuple):
    """What becomes of an export request."""

    stored: Future[None] | None
    """Done when the request is on disk; `None` if it holds nothing."""
    rejected: int
    """Spans that were refused because their ids are invalid."""


class Refusals(NamedTuple):
    """Refusals since the start: records with invalid ids, and whole requests."""

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
            request = check_request(body, signal, encoding)
        except CarobError:
            self._refuse(requests=1)
            raise
        if request.rejected:
            self._refuse(records=request.rejected)
        if not request.records:
            return Acceptance(None, request.rejected)
        kind, packing = f"{signal}/{encoding}", "gzip" if gzipped else ""
        payload = Payload(_now(), kind, packing, gzipped or body)
        return Acceptance(self._add(payload), request.rejected)

    def _refuse(self, *, records: int = 0, requests: int = 0) -> None:
        with self._ready:  # receivers are threads
            known = self.refused
            self.refused = Refusals(known.records + records, known.requests + requests)

    def _add(self, payload: Payload) -> Future[None]:
        future: Future[None] = Future()
        with self._ready:
            if self._stopping:
                raise FullError("the server is stopping")
            if self._size + len(payload.body) > MAX_WAITING:
                raise FullError("too much waits for the disk")
            self._waiting.append((payload, future))
            self._size += len(payload.body)
            self._ready.notify()
        return future

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
            append_payloads(database, [_pack(payload) for payload, _ in batch])
        except CarobError as error:
            _fail(batch, error)
            raise
        self.problem = None
        for _, future in batch:
            # A sender that went away has cancelled it.
            if future.set_running_or_notify_cancel():
                future.set_result(None)
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
                size += len(batch[-1][0].body)
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
        payloads = next_payloads(database, after)
        if payloads:
            updates, last = _trace_updates(payloads), payloads[-1].number
            changed = write_index(database, updates, after, last, _now())
            if changed is not None:
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
        is_start = self._indexed is None
        while (found := sessions_since(database, self._noticed, _NOTICED_AT_ONCE)) and not is_start:
            self._noticed = found[-1][1]
            self._changed([session for session, _ in found])
        self._indexed = indexed


def _fail(batch: Iterable[_Waiting], error: CarobError) -> None:
    for _, future in batch:
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def _pack(payload: Payload) -> Payload:
    """Compress a payload that came as it is: what is not written costs less than compressing."""
    if payload.packing:
        return payload
    return payload._replace(packing="zlib", body=zlib.compress(payload.body, 1))


def read_payload(payload: Payload) -> ExportRequest:
    """Decode the records of a payload."""
    signal, _, encoding = payload.kind.partition("/")
    return read_request(unpack(payload), signal, encoding)  # pyright: ignore[reportArgumentType]


def unpack(payload: Payload) -> bytes:
    """Return the body of a payload as it was before compression. Raises `FormatError` if it was
    damaged on disk."""
    try:
        if payload.packing == "gzip":  # zlib would stop after the first of several members
            return gzip.decompress(payload.body)
        return zlib.decompress(payload.body) if payload.packing else payload.body
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"damaged payload: {error}") from error


class _TraceFacts:
    """Collects what the records of a trace say about it."""

    def __init__(self, trace_id: str) -> None:
        self._session, self._rank = trace_id, 0
        self._started: int | None = None
        self._ended: int | None = None
        self._agent: str | None = None
        self._spans: set[str] = set()
        self.payloads: set[int] = set()

    def add(self, record: RecordOutline) -> None:
        """Add a record."""
        _, span_id, is_root, start, end, resource, read_attributes = record
        if span_id is None:
            return
        self._spans.add(span_id)
        if start is not None and (self._started is None or start < self._started):
            self._started = start
        if is_root and end is not None:
            self._ended = max(self._ended or 0, end)
        # One span often says it all: the others are read only as far as they could add something.
        if self._rank < _NAMED:
            self._note_session(_SESSION_NAMES, resource, _NAMED)
        if self._agent is None or self._rank < _CONVERSED:
            attributes = read_attributes()
            self._note_session(_CONVERSATIONS, attributes, _CONVERSED)
            self._note_session(_SESSIONS, attributes, _IDENTIFIED)
            self._note_session(_SESSIONS, resource, _IDENTIFIED)
            self._agent = self._agent or _first_text(attributes, _AGENTS)

    def _note_session(self, names: Iterable[str], attributes: dict[str, Json], rank: int) -> None:
        if self._rank < rank and (session := _first_text(attributes, names)):
            self._session, self._rank = session, rank

    def to_update(self) -> TraceUpdate:
        """Return what the index stores."""
        return TraceUpdate(
            session=self._session,
            rank=self._rank,
            started=_microseconds(self._started),
            ended=_microseconds(self._ended),
            agent=self._agent,
            spans=frozenset(self._spans),
            payloads=frozenset(self.payloads),
        )


def _trace_updates(payloads: Iterable[StoredPayload]) -> dict[str, TraceUpdate]:
    traces: dict[str, _TraceFacts] = {}
    for number, payload in payloads:
        signal, _, encoding = payload.kind.partition("/")
        try:
            records = [*outline_request(unpack(payload), signal, encoding, _INDEXED)]  # pyright: ignore[reportArgumentType] - as stored
        except FormatError:  # checked on arrival, so the disk has changed it
            continue
        for record in records:
            trace_id = record.trace_id
            if trace_id:
                facts = traces.get(trace_id)
                if facts is None:
                    facts = traces[trace_id] = _TraceFacts(trace_id)
                facts.payloads.add(number)
                facts.add(record)
    return {trace_id: facts.to_update() for trace_id, facts in traces.items()}


def _first_text(attributes: dict[str, Json], names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value[:255].replace("\0", "\ufffd")
    return None


def _microseconds(nanoseconds: int | None) -> int | None:
    return None if nanoseconds is None else nanoseconds // 1000


def _now() -> int:
    return time.time_ns() // 1000
