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
    cases = tuple(map(_quarantined_case, table.rows("quarantine")))
    table.close()
    return cases


def _quarantined_case(table: Table) -> QuarantinedCase:
    case = QuarantinedCase(
        case=_required(table, "case"),
        owner=_required(table, "owner"),
        expires=_expiry_date(table),
        reason=_required(table, "reason"),
    )
    table.close()
    return case


def _required(table: Table, name: str) -> str:
    value = table.text(name)
    if not value:
        raise table.missing(name)
    return value


def _expiry_date(table: Table) -> str:
    value = _required(table, "expires")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise table.error(
            "expires", f"expected a date such as '2026-12-31', got {value!r}"
        ) from error
