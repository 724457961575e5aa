"""Rank runs: those that are named, or those of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from carob.analysis.distributions import require_statistics
from carob.analysis.leaderboard import rank_runs
from carob.analysis.rules import ALPHA, PASS_RATE
from carob.api.history import find_run, list_runs, stored_run
from carob.api.load import as_list
from carob.api.store import store_url
from carob.errors import NotFoundError, UsageError
from carob.schema import Run
from carob.schema.history import RunEntry
from carob.schema.leaderboard import Leaderboard
from carob.schema.problem import ProgressListener, ignore, watch
from carob.store import open_store
from carob.store.history import label_counts

BATCH = "batch"
"""The label that the runs of a batch share."""
CELL = "cell"
"""The label that distinguishes the runs of a matrix."""
_MAX_RUNS = 200
_MAX_BATCHES = 200


class BatchEntry(NamedTuple):
    """A batch, and the number of its runs."""

    name: str
    runs: int


def leaderboard(
    runs: str | Iterable[str] = (),
    *,
    batch: str | None = None,
    metric: str = PASS_RATE,
    alpha: float = ALPHA,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> Leaderboard:
    """Rank runs by their pass rate or by the mean of a metric, with paired statistics over the
    cases that all of them share. `runs` are files or stored runs; `batch` names all stored runs
    with the label `batch=NAME`, of which the newest for each combination of labels counts.
    `progress` receives the number of runs that were read."""
    require_statistics("a leaderboard")
    names = as_list(runs)
    if batch is None:
        ranked: Mapping[str, Run] = {
            name: find_run(name, store=store) for name in watch(names, progress)
        }
    elif names:
        raise UsageError("cannot rank named runs and a batch", hint="pass one of them")
    else:
        ranked = _load_batch(batch, store, progress)
    return rank_runs(ranked, metric=metric, alpha=alpha)


def rank_stored_runs(
    names: Iterable[str], *, metric: str = PASS_RATE, store: str | None = None
) -> Leaderboard:
    """Rank stored runs only. A server must not open the files that a request names."""
    require_statistics("a leaderboard")
    ranked = {name: stored_run(name, store=store) for name in names}
    return rank_runs(ranked, metric=metric)


def list_batches(*, store: str | None = None) -> list[BatchEntry]:
    """List the batches of the store, the newest first."""
    with open_store(store_url(store)) as database:
        return [BatchEntry(*entry) for entry in label_counts(database, BATCH, _MAX_BATCHES)]


def _load_batch(batch: str, store: str | None, progress: ProgressListener) -> Mapping[str, Run]:
    entries = list_runs(labels={BATCH: batch}, limit=_MAX_RUNS, store=store).runs
    newest: dict[str, RunEntry] = {}
    for entry, name in zip(entries, _names(entries), strict=True):
        newest.setdefault(name, entry)
    if not newest:
        hint = "`carob runs` lists the labels of stored runs"
        raise NotFoundError(f"no run has the label {BATCH}={batch}", hint=hint)
    entries = watch(sorted(newest.items()), progress)
    return {name: stored_run(entry.id, store=store) for name, entry in entries}


def _names(entries: Sequence[RunEntry]) -> list[str]:
    """Name each run by its cell of a matrix, else by the labels that differ, else by its id."""
    if all(CELL in entry.labels for entry in entries):
        return [entry.labels[CELL] for entry in entries]
    keys = sorted({key for entry in entries for key in entry.labels})
    varied = [key for key in keys if len({entry.labels.get(key) for entry in entries}) > 1]
    return [
        ", ".join(f"{key}={entry.labels[key]}" for key in varied if key in entry.labels) or entry.id
        for entry in entries
    ]
