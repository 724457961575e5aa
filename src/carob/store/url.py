"""Open a store by its path (SQLite) or URL (PostgreSQL)."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from carob.errors import InputError, UsageError
from carob.store.database import Database
from carob.store.migrate import migrate
from carob.store.postgres import Postgres, without_password
from carob.store.sqlite import Sqlite

DEFAULT = ".carob/carob.db"
_POSTGRES = ("postgresql://", "postgres://")
_URL = re.compile(r"([A-Za-z][\w+.-]+)://")


def check_store_url(url: str) -> None:
    """Raise `UsageError` for URLs of unsupported databases."""
    scheme = _URL.match(url)
    if scheme and not url.startswith(_POSTGRES):
        raise UsageError(
            f"unsupported store URL scheme {scheme[1]!r}",
            hint="expected a file path or postgresql://USER@HOST/DATABASE",
        )


def exists(url: str) -> bool:
    """Whether the store exists. A PostgreSQL database is assumed to, without connecting."""
    return url.startswith(_POSTGRES) or Path(url).is_file()


def is_postgres(url: str) -> bool:
    """Whether this is the URL of a PostgreSQL database."""
    return url.startswith(_POSTGRES)


def store_place(url: str) -> str:
    """Return the place that errors of a store state: its path, or its URL without the password."""
    return without_password(url) if is_postgres(url) else str(Path(url))


def connect(url: str) -> Database:
    """Connect to a database. The caller closes it."""
    return Postgres(url) if is_postgres(url) else Sqlite(Path(url))


@contextmanager
def open_store(url: str, *, create: bool = False) -> Generator[Database]:
    """Open a store, apply migrations, and close it in the end. A missing file is an error unless
    `create` is set."""
    check_store_url(url)
    if not create and not exists(url):
        hint = "`carob run` creates a store and saves every run in it"
        raise InputError("no store found", where=url, hint=hint)
    database = connect(url)
    try:
        if url == DEFAULT:
            _write_gitignore(Path(url).with_name(".gitignore"))
        migrate(database)
        yield database
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Whoever can write to the file may have put anything in place of our JSON.
        message, hint = f"damaged content: {error}", "run `carob store verify`"
        raise InputError(message, where=database.where, hint=hint) from error
    finally:
        database.close()


def _write_gitignore(ignore: Path) -> None:
    """Keep agents' answers, which may be confidential, out of `git add .`. Not where a link leads,
    which may be somebody else's repository."""
    with suppress(OSError):
        if not ignore.exists() and not ignore.parent.is_symlink():
            ignore.write_text("*\n", "utf-8")
