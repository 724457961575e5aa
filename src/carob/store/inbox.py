"""The inbox: what live agents have sent, durable as it came, and an index of their sessions.

Receivers append payloads; an indexer reads them from where it stopped and updates the sessions. In
SQLite the inbox is a file of its own beside the store, so that receiving and scoring never wait
for each other.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from carob.errors import NotFoundError
from carob.store.database import Database, SqlValue
from carob.store.migrate import INBOX, migrate
from carob.store.url import connect, is_postgres

_PAYLOADS = ("at", "kind", "packing", "body")
_READ_AT_ONCE = 8 << 20
_PAGE = 256
_ROWS_AT_ONCE = 250


class Payload(NamedTuple):
    """One request as it came."""

    at: int
    """When it arrived, in microseconds since 1970."""
    kind: str
    """Signal and encoding, such as `traces/json`."""
    packing: str
    """How the body is compressed: `gzip` as it came, else `zlib`; an empty one not at all."""
    body: bytes


class StoredPayload(NamedTuple):
    """A payload and its number."""

    number: int
    payload: Payload


class TraceUpdate(NamedTuple):
    """What new spans say about a trace."""

    session: str
    rank: int
    """How sure the session is; a later span may name a better one."""
    started: int | None
    ended: int | None
    """When its root ended."""
    agent: str | None
    spans: frozenset[str]
    payloads: frozenset[int]


class SessionRow(NamedTuple):
    """A session as the index knows it. Times are microseconds since 1970."""

    id: str
    started: int | None
    ended: int | None
    updated: int
    spans: int
    agent: str | None
    kept: bool
    message: str | None
    turns: int | None
    """`None`, as the message and the tools, if the spans have not been read since they came."""
    tools: int | None


class SessionFilter(NamedTuple):
    """Which sessions to list; `None` matches any."""

    agent: str | None = None
    text: str | None = None
    """Part of the id, the agent or the first message, in any case."""
    complete: bool | None = None
    ended_before: int = 0
    """A session is complete if its roots ended and its last span came before this time …"""
    idle_before: int = 0
    """… or, while a root is missing, before this one."""


_ANY = SessionFilter()
SESSION_COLUMNS = SessionRow._fields
_SESSION = ", ".join(SESSION_COLUMNS)


def inbox_url(store: str) -> str:
    """Return where the inbox of a store is."""
    return store if is_postgres(store) else str(Path(store).with_suffix(".inbox.db"))


@contextmanager
def open_inbox(store: str) -> Generator[Database]:
    """Open the inbox beside a store, and close it in the end."""
    database = connect(inbox_url(store))
    try:
        migrate(database, INBOX)
        yield database
    finally:
        database.close()


def append_payloads(database: Database, payloads: Iterable[Payload]) -> int:
    """Append payloads, and return the number of the last one; those of the others are right before
    it. When this returns, they are on disk."""
    with database.writing():
        # Numbers are given before the commit. Without the lock, a second server could commit a
        # lower number after the indexer has passed it.
        database.lock_table("payloads")
        database.load("payloads", _PAYLOADS, payloads)
        row = next(database.rows("SELECT MAX(number) FROM payloads", ()))
    return int(row[0])


def next_payloads(database: Database, after: int) -> list[StoredPayload]:
    """The payloads after a number, a few megabytes at once."""
    sql = "SELECT number, at, kind, packing, body FROM payloads WHERE number > ?"
    found: list[StoredPayload] = []
    size = 0
    for number, *fields in database.rows(f"{sql} ORDER BY number LIMIT {_PAGE}", (after,)):
        found.append(StoredPayload(number, Payload(*fields)))
        size += len(fields[-1])
        if size > _READ_AT_ONCE:
            break
    return found


def indexed_payload(database: Database) -> int:
    """The number of the last payload that is in the index."""
    return _progress(database, "index")


def _progress(database: Database, name: str) -> int:
    row = next(database.rows("SELECT payload FROM progress WHERE name = ?", (name,)), None)
    return row[0] if row else 0


def _set_progress(database: Database, name: str, payload: int) -> None:
    database.execute(
        "INSERT INTO progress (name, payload) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET payload = excluded.payload",
        (name, payload),
    )


def write_probe(database: Database, at: int) -> None:
    """Write something, to see whether that is possible."""
    with database.writing():
        _set_progress(database, "probe", at)


def write_index(
    database: Database, updates: Mapping[str, TraceUpdate], after: int, payload: int, at: int
) -> list[str] | None:
    """Add what the payloads after a number, up to another one, say about traces, and return the
    changed sessions; `None` if another server was faster."""
    sessions: set[str] = set()
    # The index can be made again from the payloads, so that nobody has to wait for the disk.
    with database.writing(durable=False):
        # Two servers that update one session at once would each count the spans of their own
        # traces only; and what both have read may have been indexed and removed in between.
        database.lock_table("sessions")
        if indexed_payload(database) != after:
            return None
        for trace, update in updates.items():
            sessions |= _update_trace(database, trace, update, at)
        for session in sorted(sessions):
            _update_session(database, session)
        _set_progress(database, "index", payload)
    return sorted(sessions)


def _update_trace(database: Database, trace: str, update: TraceUpdate, at: int) -> set[str]:
    """Update a trace and return the sessions that change."""
    new = sum(_add_spans(database, trace, part) for part in _parts(sorted(update.spans)))
    for payload in sorted(update.payloads):
        database.execute(
            "INSERT INTO trace_payloads (trace_id, payload) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (trace, payload),
        )
    sql = "SELECT session, rank FROM session_traces WHERE trace_id = ?"
    known = next(database.rows(sql, (trace,)), None)
    session, rank = update.session, update.rank
    if known and known[1] >= rank:
        session, rank = known
    values: tuple[SqlValue, ...] = (
        *(trace, session, rank, update.started, update.ended, at, new, update.agent),
    )
    database.execute(_UPSERT_TRACE, values)
    return {session, known[0]} if known else {session}


def _parts(spans: list[str]) -> list[list[str]]:
    return [spans[start : start + _ROWS_AT_ONCE] for start in range(0, len(spans), _ROWS_AT_ONCE)]


def _add_spans(database: Database, trace: str, spans: list[str]) -> int:
    """Add spans in one statement, and return how many are new."""
    rows = ", ".join(["(?, ?)"] * len(spans))
    sql = f"INSERT INTO spans (trace_id, span_id) VALUES {rows} ON CONFLICT DO NOTHING"  # noqa: S608
    return database.execute(sql, [value for span in spans for value in (trace, span)])


_UPSERT_TRACE = (
    "INSERT INTO session_traces (trace_id, session, rank, started, ended, updated, spans, agent)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (trace_id) DO UPDATE SET"
    " session = excluded.session, rank = excluded.rank,"
    " started = CASE WHEN session_traces.started <= excluded.started"
    " THEN session_traces.started ELSE COALESCE(excluded.started, session_traces.started) END,"
    " ended = COALESCE(excluded.ended, session_traces.ended),"
    " updated = excluded.updated, spans = session_traces.spans + excluded.spans,"
    " agent = COALESCE(session_traces.agent, excluded.agent)"
)
_SUM = (
    "SELECT COUNT(*), MIN(started), MAX(ended), COUNT(ended), MAX(updated), SUM(spans), MIN(agent)"
    " FROM session_traces WHERE session = ?"
)


def _update_session(database: Database, session: str) -> None:
    """Recompute a session from its traces; the trace that was built from it is outdated."""
    traces, started, ended, complete, updated, spans, agent = next(database.rows(_SUM, (session,)))
    if not traces:  # all of its traces turned out to belong to a better-known session
        database.execute("DELETE FROM sessions WHERE id = ?", (session,))
        return
    values = (session, started, ended if complete == traces else None, updated, spans, agent)
    database.execute(
        "INSERT INTO sessions (id, started, ended, updated, spans, agent) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET started = excluded.started, ended = excluded.ended,"
        " updated = excluded.updated, spans = excluded.spans, agent = excluded.agent,"
        " trace = NULL, message = NULL, turns = NULL, tools = NULL",
        values,
    )


def sessions_since(database: Database, updated: int, limit: int) -> list[tuple[str, int]]:
    """The sessions that were indexed after a time, by any server, each with its time."""
    sql = "SELECT id, updated FROM sessions WHERE updated > ? ORDER BY updated LIMIT ?"
    return [(row[0], row[1]) for row in database.rows(sql, (updated, limit))]


def list_sessions(
    database: Database,
    *,
    limit: int,
    before: tuple[int, str] | None = None,
    wanted: SessionFilter = _ANY,
) -> list[SessionRow]:
    """The sessions that changed last, newest first, from where the previous page ended."""
    condition, values = _conditions(wanted)
    sql = (
        f"SELECT {_SESSION} FROM sessions WHERE (updated, id) < (?, ?){condition}"  # noqa: S608 - own words
        " ORDER BY updated DESC, id DESC LIMIT ?"
    )
    return [session_row(row) for row in database.rows(sql, [*(before or _NEWEST), *values, limit])]


_NEWEST = (2**63 - 1, "")
_COMPLETE = "(CASE WHEN ended IS NULL THEN updated < ? ELSE updated < ? END)"


def _conditions(wanted: SessionFilter) -> tuple[str, list[SqlValue]]:
    sql, values = "", list[SqlValue]()
    if wanted.agent is not None:
        sql += " AND agent = ?"
        values.append(wanted.agent)
    if wanted.complete is not None:
        sql += f" AND {'' if wanted.complete else 'NOT '}{_COMPLETE}"
        values += [wanted.idle_before, wanted.ended_before]
    if wanted.complete is False:
        sql += " AND updated >= ?"  # implied, but lets the index find the few open ones
        values.append(min(wanted.idle_before, wanted.ended_before))
    if wanted.text is not None:
        sql += r" AND LOWER(id || ' ' || COALESCE(agent, '') || ' ' || COALESCE(message, ''))"
        sql += " LIKE LOWER(?) ESCAPE '!'"
        escaped = re.sub("([!%_])", r"!\1", wanted.text)
        values.append(f"%{escaped}%")
    return sql, values


def count_sessions(database: Database, wanted: SessionFilter = _ANY) -> tuple[int, int]:
    """The number of sessions, and of their spans."""
    condition, values = _conditions(wanted)
    sql = f"SELECT COUNT(*), COALESCE(SUM(spans), 0) FROM sessions WHERE 1 = 1{condition}"  # noqa: S608 - own words
    sessions, spans = next(database.rows(sql, values))
    return int(sessions), int(spans)


def unread_sessions(database: Database, *, max_spans: int, limit: int) -> list[SessionRow]:
    """The sessions whose spans have not been read since they came, newest first."""
    sql = (
        f"SELECT {_SESSION} FROM sessions WHERE turns IS NULL AND spans <= ?"  # noqa: S608 - own words
        " ORDER BY updated DESC LIMIT ?"
    )
    return [session_row(row) for row in database.rows(sql, (max_spans, limit))]


def find_session(database: Database, session: str) -> SessionRow:
    """Find a session by its id."""
    sql = f"SELECT {_SESSION} FROM sessions WHERE id = ?"  # noqa: S608 - own words
    row = next(database.rows(sql, (session,)), None)
    if row is None:
        raise NotFoundError(f"no session {session!r}", where=database.where)
    return session_row(row)


def session_row(row: Sequence[SqlValue]) -> SessionRow:
    """Read a row of `SESSION_COLUMNS`."""
    session = SessionRow(*row)  # pyright: ignore[reportArgumentType] - its columns
    return session._replace(kept=bool(session.kept))


def session_payloads(database: Database, session: str) -> Generator[tuple[frozenset[str], Payload]]:
    """The trace ids of a session, with each payload that holds spans of them."""
    sql = (
        "SELECT s.trace_id, p.payload FROM session_traces s LEFT JOIN trace_payloads p"
        " ON p.trace_id = s.trace_id WHERE s.session = ?"
    )
    rows = list(database.rows(sql, (session,)))
    traces = frozenset(row[0] for row in rows)
    for payload in _payloads(database, {row[1] for row in rows if row[1] is not None}):
        yield traces, payload


def trace_payloads(database: Database, traces: Iterable[str]) -> Generator[Payload]:
    """The payloads that hold spans of some traces."""
    numbers = {number for trace in traces for number in _payload_numbers(database, trace)}
    yield from _payloads(database, numbers)


def _payloads(database: Database, numbers: Iterable[int]) -> Iterator[Payload]:
    for number in sorted(numbers):
        sql = "SELECT at, kind, packing, body FROM payloads WHERE number = ?"
        # As a list: whoever stops at a damaged payload must not leave a cursor open.
        yield from [Payload(*row) for row in database.rows(sql, (number,))]  # pyright: ignore[reportArgumentType] - its columns


def _payload_numbers(database: Database, trace: str) -> list[int]:
    sql = "SELECT payload FROM trace_payloads WHERE trace_id = ?"
    return [row[0] for row in database.rows(sql, (trace,))]


def cached_trace(database: Database, session: str) -> bytes | None:
    """The trace that was built from a session, unless spans have come since."""
    sql = "SELECT trace FROM sessions WHERE id = ?"
    row = next(database.rows(sql, (session,)), None)
    return zlib.decompress(row[0]) if row and row[0] else None


class TraceSummary(NamedTuple):
    """What the list of sessions shows of a trace."""

    message: str | None
    turns: int
    tools: int


def cache_traces(
    database: Database, sessions: Iterable[tuple[SessionRow, bytes | None, TraceSummary]]
) -> None:
    """Keep the traces of sessions, or only their summaries, unless spans have come since a session
    was read."""
    sql = (
        "UPDATE sessions SET trace = ?, message = ?, turns = ?, tools = ?"
        " WHERE id = ? AND updated = ? AND spans = ?"
    )
    with database.writing(durable=False):
        for session, trace, summary in sessions:
            packed = None if trace is None else zlib.compress(trace, 1)
            values = (packed, *summary, session.id, session.updated, session.spans)
            database.execute(sql, values)
