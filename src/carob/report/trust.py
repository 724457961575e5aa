"""Trusted configurations as text."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.text import count, printable
from carob.schema import TrustRecord


def format_trust(record: TrustRecord) -> str:
    """Return what takes effect in a file, and the digest to pin it."""
    lines = [record.file, *record.settings, f"digest {record.digest}"]
    return printable("\n  ".join(lines)) + "\n"


def format_trusted(records: Sequence[TrustRecord]) -> str:
    """Return a list of trusted files."""
    lines = [f"{record.file}  {record.digest}  {record.time}" for record in records]
    return printable("\n  ".join([count(len(records), "trusted file"), *lines])) + "\n"
