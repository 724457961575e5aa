"""Tokens that open a server: make, list, remove, check."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import cast

from carob.errors import UsageError
from carob.schema.token import NewToken, TokenInfo, TokenRole
from carob.store import open_store
from carob.store.tokens import StoredToken, add_token, all_tokens
from carob.store.tokens import remove_token as remove_stored

ROLES: tuple[TokenRole, ...] = ("read", "write", "ingest")
_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")
_REFRESH_SECONDS = 1.0


def new_token(store: str, name: str, roles: Sequence[str]) -> NewToken:
    """Make a token. It is returned once and stored as a digest."""
    if not _NAME.fullmatch(name):
        hint = "use letters, digits, `.`, `_` and `-`"
        raise UsageError(f"invalid token name {name!r:.80}", hint=hint)
    unknown = [role for role in roles if role not in ROLES]
    if unknown or not roles:
        found = repr(unknown[0]) if unknown else "none"
        raise UsageError(f"unknown role {found}", hint=f"roles: {', '.join(ROLES)}")
    ordered: tuple[TokenRole, ...] = tuple([role for role in ROLES if role in roles])
    # 256 random bits cannot be guessed, so that a plain digest is enough: slow hashes are for
    # passwords, and would make every request slow.
    token = f"carob_{secrets.token_urlsafe(32)}"
    stored = StoredToken(name, _digest(token), ordered, time.time_ns() // 1000)
    with open_store(store, create=True) as database:
        add_token(database, stored)
    return NewToken(name, ordered, token)


def list_tokens(store: str) -> tuple[TokenInfo, ...]:
    """List the tokens, without their secrets."""
    with open_store(store, create=True) as database:
        return tuple(map(_info, all_tokens(database)))


def remove_token(store: str, name: str) -> None:
    """Remove a token. A running server refuses it from the next second on."""
    with open_store(store, create=True) as database:
        remove_stored(database, name)


class TokenCheck:
    """Finds the roles of tokens, with a copy of the digests that is at most a second old."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._tokens: list[StoredToken] = []
        self._read_at = -_REFRESH_SECONDS

    def roles(self, token: str) -> frozenset[str]:
        """Return what a token allows; nothing for an unknown one."""
        now = time.monotonic()
        if now - self._read_at >= _REFRESH_SECONDS:
            with open_store(self._store, create=True) as database:
                self._tokens = all_tokens(database)
            self._read_at = now
        digest = _digest(token)
        roles: frozenset[str] = frozenset()
        # All digests are compared, each in constant time, so that the time tells nothing.
        for stored in self._tokens:
            if hmac.compare_digest(stored.digest, digest):
                roles = frozenset(stored.roles)
        return roles | {"read"} if "write" in roles else roles


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _info(token: StoredToken) -> TokenInfo:
    created = datetime.fromtimestamp(token.created_at // 10**6, UTC)
    roles = cast("tuple[TokenRole, ...]", token.roles)
    return TokenInfo(token.name, roles, f"{created:%Y-%m-%dT%H:%M:%SZ}")
