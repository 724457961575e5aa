"""The current time, which a build may fix."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from carob.errors import UsageError
from carob.files.timestamps import parse_time


def now() -> datetime:
    """Return the current time in UTC, or SOURCE_DATE_EPOCH for reproducible builds."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(fixed), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH is {fixed!r}, expected seconds since 1970") from error


def timestamp(text: str | None = None) -> str:
    """Return a time expression, by default the current time, as ISO 8601 in UTC."""
    moment = parse_time(text) if text else now()
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
