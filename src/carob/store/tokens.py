"""Tokens that open a server: their names, roles and digests, never the tokens themselves."""

from __future__ import annotations

from typing import NamedTuple

from carob.errors import NotFoundError, RefusedError
from carob.store.database import Database


class StoredToken(NamedTuple):
    """A token as stored."""

    name: str
    digest: bytes
    roles: tuple[str, ...]
    created_at: int
    """Microseconds since 1970."""


def add_token(database: Database, token: StoredToken) -> None:
    """Store a token. Raises `RefusedError` if the name is taken."""
    sql = (
        "INSERT INTO tokens (name, digest, roles, created_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (name) DO NOTHING"
    )
    values = (token.name, token.digest, " ".join(token.roles), token.created_at)
    with database.writing():
        added = database.execute(sql, values)
    if not added:
        hint = "choose another name, or remove that token first"
        raise RefusedError(f"there is a token named {token.name!r} already", hint=hint)


def all_tokens(database: Database) -> list[StoredToken]:
    """All tokens by name."""
    rows = database.rows("SELECT name, digest, roles, created_at FROM tokens ORDER BY name")
    return [
        StoredToken(name, bytes(digest), tuple(roles.split()), created)
        for name, digest, roles, created in rows
    ]


def remove_token(database: Database, name: str) -> None:
    """Remove a token, so that it opens nothing any more."""
    with database.writing():
        removed = database.execute("DELETE FROM tokens WHERE name = ?", (name,))
    if not removed:
        raise NotFoundError(f"no token named {name!r}", hint="`carob serve token list` lists them")
