"""Cases that may not decide for a while. Each has an owner and a last day, so that none is
forgotten."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from carob.config import document
from carob.config.table import Table
from carob.schema import Quarantined


def load_quarantine(path: Path) -> tuple[Quarantined, ...]:
    """The `[[quarantine]]` tables of a file."""
    doc = document.read(path)
    table = Table(doc, doc.value)
    found = tuple(_quarantined(one) for one in table.rows("quarantine"))
    table.close()
    return found


def _quarantined(table: Table) -> Quarantined:
    made = Quarantined(
        case=_required(table, "case"),
        owner=_required(table, "owner"),
        expires=_day(table),
        reason=_required(table, "reason"),
    )
    table.close()
    return made


def _required(table: Table, name: str) -> str:
    value = table.text(name)
    if not value:
        raise table.missing(name)
    return value


def _day(table: Table) -> str:
    value = _required(table, "expires")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise table.error(
            "expires", f"expected a day such as '2026-12-31', got {value!r}"
        ) from error
