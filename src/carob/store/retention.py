"""Which sessions stay: kept ones always, others until they are removed to make room."""

from __future__ import annotations

from collections.abc import Iterable

from carob.store.database import Database
from carob.store.inbox import indexed_payload


def keep_sessions(database: Database, sessions: Iterable[str]) -> None:
    """Keep sessions, whatever their age."""
    with database.writing():
        for session in sessions:
            database.execute("UPDATE sessions SET kept = 1 WHERE id = ?", (session,))


def remove_sessions(database: Database, sessions: Iterable[str]) -> int:
    """Remove sessions, and payloads that no other session needs. Returns their number."""
    removed = 0
    with database.writing():
        database.lock()
        database.lock_table("sessions")  # as the indexer does
        numbers: set[int] = set()
        for session in sessions:
            numbers |= _payloads_of(database, session)
            removed += _remove_session(database, session)
        if numbers:
            _remove_unused(database, min(numbers), max(numbers))
    return removed


def _payloads_of(database: Database, session: str) -> set[int]:
    sql = (
        "SELECT payload FROM trace_payloads"
        " WHERE trace_id IN (SELECT trace_id FROM session_traces WHERE session = ?)"
    )
    return {row[0] for row in database.rows(sql, (session,))}


def _remove_unused(database: Database, first: int, last: int) -> None:
    """Remove the payloads in a range that no trace needs. A payload is not looked up by its traces:
    without an index, which receivers would pay for, that takes a scan for each."""
    # The last payload in the index loses its content only. SQLite would give its number to the
    # next payload, which the indexer would then take for one that it has read.
    indexed = indexed_payload(database)
    sql = f"DELETE FROM payloads WHERE number < ? AND number IN {_UNUSED}"  # noqa: S608 - own words
    database.execute(sql, (indexed, first, last, first, last))
    sql = f"UPDATE payloads SET body = ?, packing = ? WHERE number = ? AND number IN {_UNUSED}"  # noqa: S608
    database.execute(sql, (b"", "", indexed, first, last, first, last))


_UNUSED = (
    "(SELECT number FROM payloads WHERE number BETWEEN ? AND ?"
    " EXCEPT SELECT payload FROM trace_payloads WHERE payload BETWEEN ? AND ?)"
)


def _remove_session(database: Database, session: str) -> int:
    traces = "(SELECT trace_id FROM session_traces WHERE session = ?)"
    for table in ("spans", "trace_payloads", "session_traces"):
        database.execute(f"DELETE FROM {table} WHERE trace_id IN {traces}", (session,))  # noqa: S608
    return database.execute("DELETE FROM sessions WHERE id = ?", (session,))


def sessions_beyond(database: Database, *, older_than: int, max_bytes: int) -> list[str]:
    """The sessions to remove: older than a time, or the oldest beyond a size; never kept ones."""
    old = "SELECT id FROM sessions WHERE kept = 0 AND updated < ? ORDER BY updated, id"
    removed = [row[0] for row in database.rows(old, (older_than,))]
    total = next(database.rows("SELECT COALESCE(SUM(LENGTH(body)), 0) FROM payloads"))[0]
    if total <= max_bytes:
        return removed
    # What a session takes is its share of the payloads; a batch of spans of many sessions counts
    # for each of them, so that the estimate frees too little and the next round the rest.
    sizes = (
        "SELECT s.id, SUM(LENGTH(p.body)) FROM sessions s"
        " JOIN session_traces t ON t.session = s.id"
        " JOIN trace_payloads l ON l.trace_id = t.trace_id JOIN payloads p ON p.number = l.payload"
        " WHERE s.kept = 0 AND s.updated >= ? GROUP BY s.id, s.updated ORDER BY s.updated, s.id"
    )
    for session, size in database.rows(sizes, (older_than,)):
        if total <= max_bytes:
            break
        removed.append(session)
        total -= size
    return removed
