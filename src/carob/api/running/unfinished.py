"""Runs in progress: where their finished batches are, until the run is complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec

from carob import __version__
from carob.api.running.selection import SelectedCases
from carob.api.running.sources import FileState
from carob.runner.job import ScoringJob
from carob.schema import Trace
from carob.schema.history import UnfinishedRun
from carob.store import exists, open_store
from carob.store.unfinished import (
    RunKey,
    load_shards,
    remove_unfinished,
    save_shards,
    unfinished_runs,
)

_FOLDER = Path(".carob") / "unfinished"


class StoredBatches:
    """The finished batches of one run, in the store. A run that is not saved in a store has a file
    of its own."""

    def __init__(self, run: RunKey, store: str | None) -> None:
        self._run = run
        self._own_file = None if store else _FOLDER / f"{run.key}.db"
        self._url = store or str(self._own_file)

    def load(self) -> Iterator[tuple[int, bytes]]:
        """Yield the batches of earlier attempts."""
        if exists(self._url):
            with open_store(self._url) as database:
                yield from load_shards(database, self._run.key)

    def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
        """Save batches in one transaction; those that are known stay as they are. With `restart`,
        batches of earlier attempts are removed first."""
        # Opened for each save: judges may finish batches in another thread, which cannot use the
        # connection of this one.
        with open_store(self._url, create=True) as database:
            if restart:
                with database.writing():
                    remove_unfinished(database, self._run.key)
            save_shards(database, self._run, batches)

    def remove(self) -> None:
        """Remove the batches from the store: they are part of something complete."""
        if self._own_file is None and exists(self._url):
            with open_store(self._url) as database, database.writing():
                remove_unfinished(database, self._run.key)

    def close(self) -> None:
        """Remove the file of a complete run that is not saved in a store."""
        if self._own_file:
            with suppress(OSError):
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{self._own_file}{suffix}").unlink(missing_ok=True)
                _FOLDER.rmdir()  # fails if other runs are unfinished
                _FOLDER.parent.rmdir()


def list_unfinished(store: str) -> tuple[UnfinishedRun, ...]:
    """Return the runs in progress of a store, newest first."""
    if not exists(store):
        return ()
    with open_store(store) as database:
        return unfinished_runs(database)


def run_key(
    paths: Sequence[Path],
    cases: SelectedCases | None,
    job: ScoringJob,
    batches: int,
    recorded: Sequence[Trace] | str,
    mapping: str | None = None,
) -> RunKey:
    """Return a key that only a run with the same inputs gets."""
    inputs = {
        "carob": __version__,  # another version may divide the traces differently
        "files": [FileState.of(path) for path in paths],
        "traces": recorded,
        "mapping": mapping,
        "dataset": cases.info.digest if cases else None,
        "selection": cases.selection if cases else None,
        "metrics": job.plan.specs,
        "profiles": [job.plan.profile, job.plan.profiles],
        "crossed": job.crossed,
    }
    data = msgspec.json.encode(inputs, order="deterministic")
    key = blake2b(data, digest_size=8).hexdigest()
    return RunKey(key, cases.whole.name if cases else None, batches)
