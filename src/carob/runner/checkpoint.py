"""Keep finished batches while a run is in progress, so that a stopped or killed run can resume.

Batches are saved only once scoring has taken a while, so a short run costs nothing and leaves
nothing behind.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from carob.errors import CarobError
from carob.runner.merge import FinishedBatch

PATIENCE = 2.0
"""Seconds of scoring that are worth saving."""
_INTERVAL = 0.5
"""Seconds between two saves: each is a transaction that waits for the disk."""
_MAX_PENDING = 64
"""Batches that may wait for the next save, once saving has begun."""


class BatchStore(Protocol):
    """Where the batches of one run are kept."""

    def load(self) -> Iterator[tuple[int, bytes]]:
        """Yield the batches of earlier attempts."""
        ...

    def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
        """Save batches in one transaction; those that are known stay as they are. With `restart`,
        batches of earlier attempts are removed first."""
        ...


class Checkpoint:
    """The finished batches of one run."""

    def __init__(self, store: BatchStore, *, resume: bool, patience: float = PATIENCE) -> None:
        self.batches = 0
        """Number of finished batches, including those of earlier attempts."""
        self._store = store
        self._resume = self._known = resume
        self._patience = patience
        self._save_after = time.monotonic() + patience
        self._saving = False
        self._pending: dict[int, FinishedBatch] = {}

    def finished(self) -> Iterator[tuple[int, bytes]]:
        """Yield the batches of earlier attempts, if the run resumes one."""
        self._save_after = time.monotonic() + self._patience  # reading files does not count
        if self._resume:
            for number, batch in self._store.load():
                self.batches += 1
                yield number, batch

    def append(self, number: int, batch: FinishedBatch) -> None:
        """Add a finished batch. It is saved if the run has lasted long enough."""
        self.batches += 1
        self._pending[number] = batch
        full = self._saving and len(self._pending) >= _MAX_PENDING
        if full or time.monotonic() >= self._save_after:
            self.flush()

    def flush(self) -> bool:
        """Save pending batches, and return whether they are saved. A run whose store cannot be
        written goes on without: what matters is its result."""
        encode = msgspec.json.encode
        batches = {
            number: batch if isinstance(batch, bytes) else encode(batch)
            for number, batch in self._pending.items()
        }
        self._pending.clear()
        try:
            if batches:
                self._store.save(batches, restart=not self._known)
                # Not before: a save that failed has not removed the batches of earlier attempts.
                self._known = True
        except CarobError:
            return False
        finally:
            self._saving = True
            self._save_after = time.monotonic() + _INTERVAL
        return True
