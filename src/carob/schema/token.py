"""Tokens that open a server."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct

TokenRole = Literal["read", "write", "ingest"]
"""See everything, change everything, send traces. `write` includes `read`."""


class TokenInfo(Struct, frozen=True, omit_defaults=False):
    """A token without its secret."""

    name: str
    roles: tuple[TokenRole, ...]
    created_at: str


class NewToken(Struct, frozen=True, omit_defaults=False):
    """A token that was just made. It is never shown again."""

    name: str
    roles: tuple[TokenRole, ...]
    token: str
