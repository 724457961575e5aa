"""Timestamps in files, and the time expressions that users write: ISO 8601, Unix time and ages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from carob.errors import UsageError

_AGE = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def from_seconds(seconds: float | None) -> str | None:
    """Unix time as ISO 8601 in UTC; `None` for zero, and for a number that is not a date."""
    if not seconds:
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    # A number next to zero rounds to 1970-01-01T00:00:00Z, which means "not set" as zero does.
    return moment.isoformat().replace("+00:00", "Z") if moment.timestamp() else None


def to_seconds(text: str | None) -> float | None:
    """ISO 8601 as Unix time; `None` for any other text."""
    try:
        return _parse_iso(text).timestamp() if text else None
    except ValueError:
        return None


def parse_time(text: str, *, end: bool = False) -> datetime:
    """Parse ISO 8601, or an age such as `7d`. Raises `UsageError` for any other text.

    A time without a zone is in UTC. As an end, a date stands for the midnight after it, so that
    the day is included.
    """
    try:
        if _AGE.fullmatch(text):
            return datetime.now(UTC) - parse_age(text)
        moment = _parse_iso(text).astimezone(UTC)
        return moment + timedelta(days=1) if end and is_date(text) else moment
    except (ValueError, OverflowError) as error:
        hint = "expected a time such as 2026-03-01, 2026-03-01T12:30:00Z or 7d"
        raise UsageError(f"invalid time {text!r}", hint=hint) from error


def parse_age(text: str) -> timedelta:
    """Parse an age such as `12h`, `90d` or `4w`."""
    age = _AGE.fullmatch(text)
    if not age:
        raise UsageError(f"invalid age {text!r}", hint="expected an age such as 12h, 90d or 4w")
    return timedelta(**{_UNITS[age[2]]: int(age[1])})


def is_date(text: str) -> bool:
    """Whether a time expression is a date without a time."""
    return len(text) == len("2026-03-01")


def _parse_iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
