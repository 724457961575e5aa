"""Pause Python's cycle collector while large documents are decoded."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Pause the cycle collector within a block.

    Decoding a large document creates millions of objects and no cycles, and each of them would
    bring the next collection closer.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # Freezing and unfreezing moves all objects to the oldest generation. Without it, the
            # first collection after the block would walk through all of them.
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
