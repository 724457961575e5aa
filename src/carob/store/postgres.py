"""A store in a PostgreSQL database, in a schema of its own that is called `carob`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, LiteralString, cast
from urllib.parse import urlsplit

from carob.errors import CarobError, InputError, OutputError, UsageError
from carob.store.database import Row, Value

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x6B61726174
"""Any number that nobody else locks."""
_PATIENCE = 10


class Postgres:
    """A connection to a PostgreSQL database."""

    def __init__(self, url: str) -> None:
        self.where = without_password(url)
        _require()
        with self._errors():
            self._connection = _connect(url)

    @contextmanager
    def writing(self) -> Generator[None]:
        with self._errors(), self._connection.transaction():
            yield

    def rows(self, sql: str, values: Sequence[Value] = ()) -> Iterator[Row]:
        with self._errors():
            yield from self._connection.execute(_own(sql), values)

    def execute(self, sql: str, values: Sequence[Value] = ()) -> int:
        with self._errors():
            return self._connection.execute(_own(sql), values).rowcount

    def add(self, table: str, columns: Sequence[str], row: Sequence[Value]) -> int:
        places = ", ".join("?" * len(columns))
        named = f"{table} ({', '.join(columns)})"
        sql = f"INSERT INTO {named} VALUES ({places}) RETURNING number"  # noqa: S608 - own names
        return next(self.rows(sql, row))[0]

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._errors(), self._connection.cursor() as cursor, cursor.copy(_own(sql)) as copy:
            for row in rows:
                copy.write_row(row)

    def script(self, sql: str) -> None:
        with self._errors():
            self._connection.execute(_own(sql))

    def lock(self, *, shared: bool = False) -> None:
        kind = "_shared" if shared else ""
        self.execute(f"SELECT pg_advisory_xact_lock{kind}(?)", (_LOCK,))

    def damage(self) -> Iterator[str]:
        """The server checks its own pages."""
        return iter(())

    def compact(self) -> None:
        """The server does it by itself."""

    def close(self) -> None:
        with self._errors():
            self._connection.close()

    @contextmanager
    def _errors(self) -> Generator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise _translated(error, self.where) from error


def without_password(url: str) -> str:
    """The address as it may be shown."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _require() -> None:
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]  - is it there?
    except ImportError as error:
        hint = "pip install 'carob[postgres]'"
        raise UsageError("a store in PostgreSQL needs psycopg", hint=hint) from error


def _connect(url: str) -> psycopg.Connection[Row]:
    import psycopg

    made = psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE)
    made.execute("SET client_min_messages TO warning")
    if not made.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'carob'").fetchone():
        with made.transaction():
            made.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            made.execute("CREATE SCHEMA IF NOT EXISTS carob")
    made.execute("SET search_path TO carob")
    return made


def _own(sql: str) -> LiteralString:
    """psycopg's mark for a value. The SQL is all ours: no value is ever put into it."""
    return cast("LiteralString", sql.replace("?", "%s"))


def _translated(error: psycopg.Error, where: str) -> CarobError:
    import psycopg

    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if isinstance(error, psycopg.errors.DiskFull):
        message = f"cannot be written, and is as it was before: {text}"
        return OutputError(message, where=where)
    if isinstance(error, psycopg.OperationalError):
        return InputError(f"cannot be reached: {text}", where=where)
    return InputError(f"PostgreSQL says: {text}", where=where)
