"""A store in a SQLite file. Readers do not block the writer, and writers wait for each other."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from carob.errors import CarobError, InputError, OutputError
from carob.store.database import SqlRow, SqlValue

if TYPE_CHECKING:
    import sqlite3

_TIMEOUT = 60
"""Seconds to wait for another writer."""
_DIALECT = {
    "BIGINT GENERATED ALWAYS AS IDENTITY": "INTEGER",
    "BYTEA": "BLOB",
    ' COLLATE "C"': "",
    "/* WITHOUT ROWID */": "WITHOUT ROWID",
}


class Sqlite:
    """A connection to a SQLite file, which is created if missing."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot be created: {error.strerror}", where=self.where) from error
        with self._errors():
            self._connection = _connect(path)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Generator[None]:
        if not durable:
            self.execute("PRAGMA synchronous = NORMAL")
        try:
            with self._transaction():
                yield
        finally:
            if not durable:
                self.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _transaction(self) -> Generator[None]:
        # IMMEDIATE takes the write lock now. A transaction that starts as a reader would fail at
        # its first write if another process wrote in between, without waiting for the timeout.
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._errors():
                self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        import sqlite3

        with suppress(sqlite3.Error):  # a full disk rolls back by itself
            self._connection.execute("ROLLBACK")

    def rows(self, sql: str, values: Sequence[SqlValue] = ()) -> Iterator[SqlRow]:
        with self._errors():
            yield from self._connection.execute(sql, values)

    def execute(self, sql: str, values: Sequence[SqlValue] = ()) -> int:
        with self._errors():
            return self._connection.execute(sql, values).rowcount

    def add(self, table: str, columns: Sequence[str], row: Sequence[SqlValue]) -> int:
        with self._errors():
            return self._connection.execute(_insert(table, columns), row).lastrowid or 0

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SqlValue]]) -> None:
        with self._errors():
            self._connection.executemany(_insert(table, columns), rows)

    def script(self, sql: str) -> None:
        for postgres, sqlite in _DIALECT.items():
            sql = sql.replace(postgres, sqlite)
        for statement in _statements(sql):
            self.execute(statement)

    def lock(self, *, shared: bool = False) -> None:
        """Nothing to do: a write transaction locks the file."""

    def lock_table(self, table: str) -> None:
        """Nothing to do: see `lock`."""

    def damage(self) -> Iterator[str]:
        try:
            messages = [str(row[0]) for row in self.rows("PRAGMA integrity_check(20)")]
        except InputError as error:
            messages = [error.message]
        yield from (text for text in messages if text != "ok")

    def compact(self) -> None:
        import sqlite3

        # If another process uses the file, the space is released by the next prune.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")

    def close(self) -> None:
        with self._errors():
            self._connection.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            raise _translate_error(error, self.where) from error
        except OverflowError as error:
            raise InputError(
                f"a number is too large to store: {error}", where=self.where
            ) from error
        except UnicodeDecodeError as error:  # a text, or SQLite's message that quotes one
            hint = "run `carob store verify`"
            raise InputError(f"damaged content: {error}", where=self.where, hint=hint) from error


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
    try:
        _set_up(connection)
    except BaseException:
        connection.close()  # the file may be no database
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    # FULL, because a run that was reported as saved must survive a power failure: with NORMAL the
    # last transactions in the WAL may be lost.
    connection.execute("PRAGMA synchronous = FULL")
    # A store may come with a repository: its views and triggers must not call functions that
    # reach outside of the file.
    connection.execute("PRAGMA trusted_schema = OFF")
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _switch_to_wal(connection)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switching needs exclusive access, for which SQLite does not wait by itself."""
    import sqlite3

    end = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _insert(table: str, columns: Sequence[str]) -> str:
    placeholders = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({placeholders})"  # noqa: S608 - own names


def _statements(sql: str) -> Iterator[str]:
    import sqlite3

    # A semicolon may be inside a text or a trigger, so SQLite decides where a statement ends.
    statement = ""
    for part in sql.split(";")[:-1]:
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


_FULL = "free some space, or choose another store with --store"


def _translate_error(error: sqlite3.Error, where: str) -> CarobError:
    text = str(error)
    if "is full" in text or "disk I/O" in text:
        message = f"cannot be written, nothing was changed: {text}"
        return OutputError(message, where=where, hint=_FULL)
    if "readonly" in text or "unable to open" in text:
        return OutputError(f"cannot be written: {text}", where=where)
    if "locked" in text:
        hint = "another process has been writing to it for a minute"
        return OutputError(f"cannot be written: {text}", where=where, hint=hint)
    if "not a database" in text:
        return InputError("not a SQLite file", where=where)
    return InputError(f"cannot be read: {text}", where=where, hint="run `carob store verify`")
