"""Numbered migrations: plain SQL files, each applied in its own transaction, forward only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from carob.errors import InputError
from carob.store.database import Database
from carob.store.ledger import adopt_executions

RUNS = "migrations"
INBOX = "inbox_migrations"
"""The two series: a folder of SQL files, and the table that records which were applied. A file of
SQLite has one of them, a PostgreSQL database may have both."""


class Migration(NamedTuple):
    """A migration; its number is the first part of the file name."""

    number: int
    name: str
    sql: str


@cache
def migrations(series: str = RUNS) -> tuple[Migration, ...]:
    """All migrations of a series in this version, in order. Files are read once: a server opens a
    store for every request."""
    return tuple(_read_migrations(series))


def _read_migrations(series: str) -> Iterator[Migration]:
    # Not `importlib.resources`, which loads archives and takes longer than opening the store.
    folder = Path(__file__).parent / series
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            yield Migration(int(number), name, file.read_text("utf-8"))


def migrate(database: Database, series: str = RUNS) -> None:
    """Apply missing migrations. Raises `InputError` for a store of a newer version."""
    all_migrations = migrations(series)
    version = _version(database, series)
    if version > all_migrations[-1].number:
        raise InputError(
            f"created by a newer version of Carob: schema {version}, "
            f"this version supports {all_migrations[-1].number}",
            where=database.where,
            hint="upgrade Carob, or choose another store with --store",
        )
    for migration in all_migrations:
        if migration.number > version:
            _apply(database, migration, series)


def _version(database: Database, series: str) -> int:
    """The number of the last migration; 0 for a new store."""
    try:
        return _last_migration(database, series)
    except InputError:  # no such table: create it, which fails if this is not a store
        with database.writing():
            database.lock()
            database.script(_TABLE.format(series=series))
        return _last_migration(database, series)


_TABLE = """
CREATE TABLE IF NOT EXISTS {series} (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    at BIGINT NOT NULL
);
"""


def _last_migration(database: Database, series: str) -> int:
    sql = f"SELECT COALESCE(MAX(number), 0) FROM {series}"  # noqa: S608 - own names
    return next(database.rows(sql))[0]


def _apply(database: Database, migration: Migration, series: str) -> None:
    with database.writing():
        database.lock()
        # Another process may have applied it while this one waited for the lock.
        if _last_migration(database, series) >= migration.number:
            return
        database.script(migration.sql)
        if migration.name == "ledger":
            adopt_executions(database)
        values = (migration.number, migration.name, time.time_ns() // 1000)
        sql = f"INSERT INTO {series} (number, name, at) VALUES (?, ?, ?)"  # noqa: S608 - own names
        database.execute(sql, values)
