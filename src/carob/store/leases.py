"""Leases: what one of several servers on a store does, so that the others need not."""

from __future__ import annotations

from collections.abc import Iterable

from carob.store.database import Database


def take_lease(database: Database, name: str, owner: str, *, now: int, until: int) -> bool:
    """Take or extend a lease, and return whether that was possible: nobody else holds it. Times
    are microseconds since 1970."""
    sql = (
        "INSERT INTO leases (name, owner, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET owner = excluded.owner, until = excluded.until"
        " WHERE leases.owner = excluded.owner OR leases.until < ?"
    )
    with database.writing():
        return database.execute(sql, (name, owner, until, now)) > 0


def release_leases(database: Database, names: Iterable[str], owner: str) -> None:
    """End leases, if they are still this owner's."""
    with database.writing():
        for name in names:
            database.execute("DELETE FROM leases WHERE name = ? AND owner = ?", (name, owner))
