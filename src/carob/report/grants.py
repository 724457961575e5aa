"""What an owner has granted, as text: the tokens of a server, and trusted configurations."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.layout import PLAIN, Display, Part, TextTable, join_lines
from carob.report.text import count, printable
from carob.schema import TrustRecord
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


def format_trust(record: TrustRecord) -> str:
    """Return what takes effect in a file, and the digest to pin it."""
    lines = [record.file, *record.settings, f"digest {record.digest}"]
    return printable("\n  ".join(lines)) + "\n"


def format_trusted(records: Sequence[TrustRecord]) -> str:
    """Return a list of trusted files."""
    lines = [f"{record.file}  {record.digest}  {record.time}" for record in records]
    return printable("\n  ".join([count(len(records), "trusted file"), *lines])) + "\n"
