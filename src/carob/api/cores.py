"""How many processes are worth having here."""

from __future__ import annotations

import os


def cores() -> int:
    """The processors that this process may use, which may be fewer than there are."""
    mine = getattr(os, "sched_getaffinity", None)  # not every system tells
    return len(mine(0)) if mine else os.cpu_count() or 1
