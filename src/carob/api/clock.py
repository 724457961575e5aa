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
