"""The cycle collector, out of the way while much is read that makes no cycles."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Large documents make no garbage while they are decoded, but the collector looks for it.

    Freezing and unfreezing makes all objects old ones: it does not look right after, either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
