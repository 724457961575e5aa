"""Quarantined cases, which do not decide a gate. Each has an owner and an expiry date, so that none
is forgotten."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from carob.config.config_file import read_document
from carob.config.table_reader import Table
from carob.schema import QuarantinedCase


def load_quarantine(path: Path) -> tuple[QuarantinedCase, ...]:
    """Read the `[[quarantine]]` tables of a file."""
    doc = read_document(path)
    table = Table(doc, doc.value)
    cases = tuple(map(_read_case, table.rows("quarantine")))
    table.close()
    return cases


def _read_case(table: Table) -> QuarantinedCase:
    case = QuarantinedCase(
        case=_require_text(table, "case"),
        owner=_require_text(table, "owner"),
        expires=_expiry_date(table),
        reason=_require_text(table, "reason"),
    )
    table.close()
    return case


def _require_text(table: Table, name: str) -> str:
    value = table.text(name)
    if not value:
        raise table.missing(name)
    return value


def _expiry_date(table: Table) -> str:
    value = _require_text(table, "expires")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise table.error(
            "expires", f"expected a date such as '2026-12-31', got {value!r}"
        ) from error
