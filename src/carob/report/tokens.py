"""The tokens of a server as text."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.layout import PLAIN, Display, Part, TextTable, join_lines
from carob.schema.token import NewToken, TokenInfo


def format_new_token(token: NewToken) -> str:
    """Return the token alone, so that it can be piped into a secret store."""
    return f"{token.token}\n"


def format_tokens(tokens: Sequence[TokenInfo], display: Display = PLAIN) -> str:
    """Return a line for each token."""
    if not tokens:
        return "no tokens\n"
    heads: list[Part] = ["name", "roles", "created"]
    rows: list[list[Part]] = [[t.name, ", ".join(t.roles), t.created_at] for t in tokens]
    return join_lines([TextTable([heads, *rows], left=range(3))], display)
