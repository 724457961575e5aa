"""How long work will still take, by the pace so far."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """The pace of one step, from the first time that it is asked: what came before, such as reading
    traces or an attempt that is resumed, says nothing about it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None

    def seconds_left(self, done: int, total: int) -> float | None:
        """Return the seconds until all is done; `None` as long as there is no pace."""
        now = self._clock()
        started, first = self._first = self._first or (now, done)
        if done >= total:
            return 0.0
        return round((now - started) / (done - first) * (total - done), 1) if done > first else None
