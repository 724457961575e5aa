"""What the store asks of a database. All SQL is written once, with `?` for values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

Value: TypeAlias = "str | int | float | bytes | None"
Row: TypeAlias = "tuple[Any, ...]"
"""A row as a database gives it; what the columns hold is known by the query only."""


class Database(Protocol):
    """A connection. Its errors are Carob's own."""

    @property
    def where(self) -> str:
        """The place to name in errors, without a password."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all that is written in it is there, or nothing is."""
        ...

    def rows(self, sql: str, values: Sequence[Value] = ()) -> Iterator[Row]: ...

    def execute(self, sql: str, values: Sequence[Value] = ()) -> int:
        """How many rows were changed."""
        ...

    def add(self, table: str, columns: Sequence[str], row: Sequence[Value]) -> int:
        """Insert a row and tell the `number` that it got."""
        ...

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
        """Insert many rows, the fastest way there is."""
        ...

    def script(self, sql: str) -> None:
        """Carry out the statements of a migration."""
        ...

    def lock(self, *, shared: bool = False) -> None:
        """Within a transaction: keep others out, who migrate, remove or write; with `shared`, only
        those who migrate or remove."""
        ...

    def damage(self) -> Iterator[str]:
        """What the database itself finds broken."""
        ...

    def compact(self) -> None:
        """Give the space of removed rows back."""
        ...

    def close(self) -> None: ...
