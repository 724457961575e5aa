"""What time it is."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from carob.errors import UsageError


def now() -> datetime:
    """The time, in UTC; reproducible builds set it with SOURCE_DATE_EPOCH."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(fixed), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH is {fixed!r}, expected seconds since 1970") from error


def timestamp(date: str | None) -> str:
    """The time that is given, that of SOURCE_DATE_EPOCH, or now; ISO 8601 in UTC."""
    try:
        found = datetime.fromisoformat(date) if date else now()
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        hint = "such as 2026-01-31 or 2026-01-31T10:30:00Z"
        raise UsageError(f"found the date {date!r}, expected ISO 8601", hint=hint) from error
    return found.isoformat(timespec="seconds").replace("+00:00", "Z")
