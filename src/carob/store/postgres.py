"""A store in a PostgreSQL database, in its own schema `carob`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, LiteralString, cast
from urllib.parse import urlsplit

from carob.errors import CarobError, InputError, OutputError, UsageError, install_hint
from carob.store.database import SqlRow, SqlValue

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x6361726F62
"""The key of our advisory lock: 'carob' in ASCII."""
_TIMEOUT = 10


class Postgres:
    """A connection to a PostgreSQL database."""

    def __init__(self, url: str) -> None:
        self.where = without_password(url)
        _require_psycopg()
        with self._errors():
            self._connection = _connect(url)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Generator[None]:
        with self._errors(), self._connection.transaction():
            if not durable:
                self._connection.execute("SET LOCAL synchronous_commit TO off")
            yield

    def rows(self, sql: str, values: Sequence[SqlValue] = ()) -> Iterator[SqlRow]:
        with self._errors():
            yield from self._connection.execute(_psycopg_sql(sql), values)

    def execute(self, sql: str, values: Sequence[SqlValue] = ()) -> int:
        with self._errors():
            return self._connection.execute(_psycopg_sql(sql), values).rowcount

    def add(self, table: str, columns: Sequence[str], row: Sequence[SqlValue]) -> int:
        placeholders = ", ".join("?" * len(columns))
        target = f"{table} ({', '.join(columns)})"
        sql = f"INSERT INTO {target} VALUES ({placeholders}) RETURNING number"  # noqa: S608 - own names
        return next(self.rows(sql, row))[0]

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SqlValue]]) -> None:
        sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with (
            self._errors(),
            self._connection.cursor() as cursor,
            cursor.copy(_psycopg_sql(sql)) as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def script(self, sql: str) -> None:
        with self._errors():
            self._connection.execute(_psycopg_sql(sql))

    def lock(self, *, shared: bool = False) -> None:
        kind = "_shared" if shared else ""
        self.execute(f"SELECT pg_advisory_xact_lock{kind}(?)", (_LOCK,))

    def lock_table(self, table: str) -> None:
        self.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")

    def damage(self) -> Iterator[str]:
        """The server checks its own pages."""
        return iter(())

    def compact(self) -> None:
        """Nothing to do: the server vacuums by itself."""

    def close(self) -> None:
        with self._errors():
            self._connection.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise _translate_error(error, self.where) from error


def without_password(url: str) -> str:
    """The URL without user and password, as shown in messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _require_psycopg() -> None:
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]  - only checks that it is installed
    except ImportError as error:
        hint = install_hint("postgres")
        raise UsageError(
            "a PostgreSQL store requires the package 'psycopg', which is not installed", hint=hint
        ) from error


def _connect(url: str) -> psycopg.Connection[SqlRow]:
    import psycopg

    connection = psycopg.connect(url, autocommit=True, connect_timeout=_TIMEOUT)
    connection.execute("SET client_min_messages TO warning")
    if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'carob'").fetchone():
        # IF NOT EXISTS alone is not enough: if two processes connect for the first time at once,
        # both find no schema, and the second one fails.
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute("CREATE SCHEMA IF NOT EXISTS carob")
    connection.execute("SET search_path TO carob")
    return connection


def _psycopg_sql(sql: str) -> LiteralString:
    """SQL with psycopg's placeholder. It is a constant of ours: values are always parameters."""
    return cast("LiteralString", sql.replace("?", "%s"))


def _translate_error(error: psycopg.Error, where: str) -> CarobError:
    import psycopg

    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if isinstance(error, psycopg.errors.DiskFull):
        message = f"cannot be written, nothing was changed: {text}"
        return OutputError(message, where=where)
    if isinstance(error, psycopg.OperationalError):
        return InputError(f"cannot connect: {text}", where=where)
    return InputError(f"PostgreSQL error: {text}", where=where)
