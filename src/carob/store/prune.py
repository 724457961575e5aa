"""Remove old executions, and results and traces that no execution uses any more."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from carob.schema.history import PruneReport
from carob.schema.problem import ProgressListener, ignore, watch
from carob.store.database import Database
from carob.store.ledger import Removed, append_entry

PROTECTED = ("baseline", "release")
"""Executions with these labels are never removed: others are compared with them."""
_UNUSED_RUNS = (
    "SELECT number FROM runs r WHERE NOT EXISTS (SELECT 1 FROM executions e WHERE e.run = r.number)"
)
_RESULT_TABLES = ("cases", "outcomes", "case_traces")
_DELETE_UNUSED_TRACES = (
    "DELETE FROM traces WHERE NOT EXISTS"
    " (SELECT 1 FROM case_traces t WHERE t.address = traces.address)"
)


class Retention(NamedTuple):
    """What to keep: the newest executions, and those since a time; both, if both are set. With
    `dry`, nothing is removed."""

    keep: int | None = None
    since: int | None = None
    dry: bool = False


def prune(
    database: Database, retention: Retention, progress: ProgressListener = ignore
) -> PruneReport:
    """Remove executions beyond the retention, in one transaction. `progress` receives the number of
    runs that were removed."""
    with database.writing():
        database.lock()
        old = _executions_beyond(database, retention)
        labelled = old & _executions_with_protection(database)
        total = next(database.rows("SELECT COUNT(*) FROM executions"))[0]
        removed = old - labelled
        if removed and not retention.dry:
            _remove(database, removed, progress)
    # After the transaction: SQLite refuses VACUUM within one.
    if removed and not retention.dry:
        database.compact()
    return PruneReport(
        store=database.where,
        removed=len(removed),
        kept=total - len(removed),
        protected=len(labelled),
        dry=retention.dry,
    )


def remove_executions(database: Database, executions: Collection[int]) -> None:
    """Remove executions that a newer one takes the place of. The ledger records it."""
    if executions:
        with database.writing():
            database.lock()
            _remove(database, {*executions})


def _executions_beyond(database: Database, retention: Retention) -> set[int]:
    sql = "SELECT number, at FROM executions ORDER BY at DESC, number DESC"
    rows = list(database.rows(sql))[retention.keep or 0 :]
    return {number for number, at in rows if retention.since is None or at < retention.since}


def _executions_with_protection(database: Database) -> set[int]:
    sql = "SELECT execution FROM facets WHERE kind = 'label' AND value >= ? AND value < ?"
    ranges = [(f"{key}=", f"{key}>") for key in PROTECTED]  # > is the character after =
    return {row[0] for both in ranges for row in database.rows(sql, both)}


def _remove(database: Database, executions: set[int], progress: ProgressListener = ignore) -> None:
    append_entry(database, Removed(executions=tuple(sorted(executions))))
    for number in sorted(executions):
        database.execute("DELETE FROM facets WHERE execution = ?", (number,))
        database.execute("DELETE FROM executions WHERE number = ?", (number,))
    for run in watch([row[0] for row in database.rows(_UNUSED_RUNS)], progress):
        for table in _RESULT_TABLES:
            database.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - own names
        database.execute("DELETE FROM runs WHERE number = ?", (run,))
    database.execute(_DELETE_UNUSED_TRACES)
