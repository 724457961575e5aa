"""Which sessions the rules of online evaluation have decided about, and the results of a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from carob.store.database import Database
from carob.store.document import as_bytes
from carob.store.inbox import SESSION_COLUMNS, SessionFilter, SessionRow, session_row


class Decision(NamedTuple):
    """What a rule has decided about a session."""

    session: str
    result: bytes | None
    """The result as JSON; `None` if the rule left the session out."""


def rule_start(database: Database, rule: str, now: int) -> int:
    """Return the time since which a rule exists; it is now, if the rule is new."""
    name = f"rule {rule}"
    with database.writing():
        database.execute(
            "INSERT INTO progress (name, payload) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            (name, now),
        )
    return next(database.rows("SELECT payload FROM progress WHERE name = ?", (name,)))[0]


def undecided_sessions(
    database: Database, rule: str, wanted: SessionFilter, *, since: int, limit: int
) -> list[SessionRow]:
    """The complete sessions that a rule has not decided about, in the order of their last span."""
    columns = ", ".join(f"s.{name}" for name in SESSION_COLUMNS)
    sql = (
        f"SELECT {columns} FROM sessions s WHERE s.updated >= ?"  # noqa: S608 - own words
        " AND (CASE WHEN s.ended IS NULL THEN s.updated < ? ELSE s.updated < ? END)"
        " AND NOT EXISTS (SELECT 1 FROM evaluated e WHERE e.rule = ? AND e.session = s.id)"
    )
    values: list[str | int] = [since, wanted.idle_before, wanted.ended_before, rule]
    if wanted.agent is not None:
        sql += " AND s.agent = ?"
        values.append(wanted.agent)
    sql += " ORDER BY s.updated, s.id LIMIT ?"
    return [session_row(row) for row in database.rows(sql, [*values, limit])]


def record_decisions(
    database: Database, rule: str, day: str, decisions: Iterable[Decision]
) -> None:
    """Record what a rule has decided. What it decided before stays."""
    sql = (
        "INSERT INTO evaluated (rule, session, day, result) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (rule, session) DO NOTHING"
    )
    with database.writing():
        for session, result in decisions:
            database.execute(sql, (rule, session, day, result))


def results_of_day(database: Database, rule: str, day: str) -> Iterator[tuple[str, bytes]]:
    """The sessions that a rule scored on a day, with their results, by session."""
    sql = (
        "SELECT session, result FROM evaluated WHERE rule = ? AND day = ?"
        " AND result IS NOT NULL ORDER BY session"
    )
    for session, result in database.rows(sql, (rule, day)):
        yield session, as_bytes(result)


def forget_removed(database: Database, before: str) -> None:
    """Forget decisions of past days about sessions that have been removed since."""
    sql = (
        "DELETE FROM evaluated WHERE day < ? AND NOT EXISTS"
        " (SELECT 1 FROM sessions s WHERE s.id = evaluated.session)"
    )
    with database.writing():
        database.execute(sql, (before,))
