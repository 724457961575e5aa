"""Numbered migrations: plain SQL files, each in a transaction of its own, forward only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from carob.errors import InputError
from carob.store.database import Database


class Migration(NamedTuple):
    """A step of the schema; its number is the first word of its file's name."""

    number: int
    name: str
    sql: str


def migrations() -> Iterator[Migration]:
    """All that this version knows, in order."""
    from importlib import resources  # late: most runs do not open a store before they are made

    folder = resources.files("carob.store") / "migrations"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            yield Migration(int(number), name, file.read_text("utf-8"))


def migrate(database: Database) -> None:
    """Bring a store up to date, and refuse one that is ahead."""
    known = list(migrations())
    version = _version(database)
    if version > known[-1].number:
        raise InputError(
            f"written by a newer version of Carob: its schema is {version}, "
            f"this version knows {known[-1].number}",
            where=database.where,
            hint="upgrade Carob, or name another store with --store",
        )
    for one in known:
        if one.number > version:
            _apply(database, one)


def _version(database: Database) -> int:
    """0 for a store that was just made."""
    try:
        return _highest(database)
    except InputError:  # no such table: to be made, unless it is no store at all
        with database.writing():
            database.lock()
            database.script(_TABLE)
        return _highest(database)


_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    at BIGINT NOT NULL
);
"""


def _highest(database: Database) -> int:
    return next(database.rows("SELECT COALESCE(MAX(number), 0) FROM migrations"))[0]


def _apply(database: Database, one: Migration) -> None:
    with database.writing():
        database.lock()
        if _highest(database) >= one.number:  # another process was faster
            return
        database.script(one.sql)
        values = (one.number, one.name, time.time_ns() // 1000)
        database.execute("INSERT INTO migrations (number, name, at) VALUES (?, ?, ?)", values)
