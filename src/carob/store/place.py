"""Which store: a path is a SQLite file, an address a PostgreSQL database."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from carob.errors import InputError, UsageError
from carob.store.database import Database
from carob.store.migrate import migrate
from carob.store.postgres import Postgres
from carob.store.sqlite import Sqlite

DEFAULT = ".carob/carob.db"
_POSTGRES = ("postgresql://", "postgres://")
_ADDRESS = re.compile(r"([A-Za-z][\w+.-]+)://")


def check(place: str) -> None:
    """Fail for an address of something that Carob cannot keep runs in."""
    address = _ADDRESS.match(place)
    if address and not place.startswith(_POSTGRES):
        raise UsageError(
            f"no store for {address[1]!r} addresses",
            hint="a store is the path of a file, or postgresql://USER@HOST/DATABASE",
        )


def is_there(place: str) -> bool:
    """Is there a store already? A database is not asked."""
    return place.startswith(_POSTGRES) or Path(place).is_file()


@contextmanager
def open_store(place: str, *, create: bool = False) -> Generator[Database]:
    """A store with all migrations, closed in the end; only with `create` a new file is made."""
    check(place)
    if not create and not is_there(place):
        hint = "`carob run` makes one, and keeps every run in it"
        raise InputError("there is no store", where=place, hint=hint)
    database = Postgres(place) if place.startswith(_POSTGRES) else Sqlite(Path(place))
    try:
        if place == DEFAULT:
            _hide(Path(place).with_name(".gitignore"))
        migrate(database)
        yield database
    finally:
        database.close()


def _hide(ignore: Path) -> None:
    """What agents said does not get into a repository because somebody added all files."""
    with suppress(OSError):
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
