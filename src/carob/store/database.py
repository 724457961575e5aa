"""The database interface of the store. All SQL is shared, with `?` for values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

SqlValue: TypeAlias = "str | int | float | bytes | None"
SqlRow: TypeAlias = "tuple[Any, ...]"
"""A row of a query, whose column types only the query knows."""


class Database(Protocol):
    """A connection. It raises errors of `carob.errors` only."""

    @property
    def where(self) -> str:
        """The path or URL to show in errors, without a password."""
        ...

    def writing(self, *, durable: bool = True) -> AbstractContextManager[None]:
        """Run one write transaction. One that is not durable may be undone by a power failure, but
        not by the end of the process: for what can be made again."""
        ...

    def rows(self, sql: str, values: Sequence[SqlValue] = ()) -> Iterator[SqlRow]: ...

    def execute(self, sql: str, values: Sequence[SqlValue] = ()) -> int:
        """Execute a statement and return the number of changed rows."""
        ...

    def add(self, table: str, columns: Sequence[str], row: Sequence[SqlValue]) -> int:
        """Insert a row and return its generated `number`."""
        ...

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[SqlValue]]) -> None:
        """Bulk-insert rows, the fastest way the database has."""
        ...

    def script(self, sql: str) -> None:
        """Execute the statements of a migration."""
        ...

    def lock(self, *, shared: bool = False) -> None:
        """Lock the store within a transaction against migrations, pruning and other writes; with
        `shared` against migrations and pruning only."""
        ...

    def lock_table(self, table: str) -> None:
        """Lock a table within a transaction against other writes to it."""
        ...

    def damage(self) -> Iterator[str]:
        """Problems that the database's own integrity check finds."""
        ...

    def compact(self) -> None:
        """Release the space of removed rows."""
        ...

    def close(self) -> None: ...
