"""Times as golden formats write them: seconds since 1970, and ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime


def from_seconds(seconds: float | None) -> str | None:
    """ISO 8601 in UTC; `None` for nothing, for next to zero, and for what is no date at all."""
    if not seconds:
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment.isoformat().replace("+00:00", "Z") if moment.timestamp() else None


def to_seconds(text: str | None) -> float | None:
    """Seconds since 1970; `None` if the text is no ISO 8601 time."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
