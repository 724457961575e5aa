from __future__ import annotations

from collections.abc import Callable

import pytest

from carob.schema import Run, Trace
from carob.store import Database
from carob.store.blobs import save_traces
from carob.store.document import split_run
from carob.store.history import HistoryQuery, history_page
from carob.store.prune import Retention, prune
from carob.store.runs import save_execution
from carob.store.verify import verify

MakeRun = Callable[..., Run]
NOON = 1_772_366_400_000_000  # 2026-03-01T12:00:00Z
DAY = 86_400_000_000
TABLES = ("runs", "cases", "outcomes", "executions", "facets", "traces", "case_traces")


def fill(database: Database, make_run: MakeRun) -> None:
    """Save a run with a trace for each of five days; the second is a baseline."""
    for day in range(1, 6):
        run = make_run(0.1 * day, created_at=f"2026-03-{day:02}T12:00:00Z")
        labels = {"baseline": "1.0"} if day == 2 else {"branch": "main"}
        execution = save_execution(database, split_run(run), labels)
        save_traces(database, execution, [Trace(id="trace_0", source=f"day {day}")])


def days(database: Database) -> list[int]:
    return [
        int(run.created_at[8:10]) for run in history_page(database, HistoryQuery(), limit=9).runs
    ]


@pytest.mark.parametrize(
    ("retention", "remaining"),
    [
        (Retention(keep=3), [5, 4, 3, 2]),
        (Retention(keep=0), [2]),
        (Retention(since=NOON + 3 * DAY), [5, 4, 2]),
        (Retention(keep=3, since=NOON + 4 * DAY), [5, 4, 3, 2]),
        (Retention(keep=1, since=NOON + 2 * DAY), [5, 4, 3, 2]),
        (Retention(keep=9), [5, 4, 3, 2, 1]),
        (Retention(keep=0, dry=True), [5, 4, 3, 2, 1]),
    ],
)
def test_old_runs_are_removed_but_not_baselines(
    database: Database, make_run: MakeRun, retention: Retention, remaining: list[int]
):
    fill(database, make_run)
    pruned = prune(database, retention)
    assert days(database) == remaining
    assert verify(database).problems == ()
    if not retention.dry:
        assert (pruned.removed, pruned.kept) == (5 - len(remaining), len(remaining))


def test_removed_runs_leave_no_rows_behind(database: Database, make_run: MakeRun):
    fill(database, make_run)
    pruned = prune(database, Retention(keep=0))
    assert (pruned.removed, pruned.kept, pruned.protected) == (4, 1, 1)
    sizes = [next(database.rows(f"SELECT COUNT(*) FROM {name}"))[0] for name in TABLES]  # noqa: S608
    assert sizes == [1, 1, 1, 1, 2, 1, 1]


def test_run_is_preserved_while_an_execution_remains(database: Database, make_run: MakeRun):
    for day in (1, 2):
        save_execution(database, split_run(make_run(created_at=f"2026-03-0{day}T12:00:00Z")), {})
    assert prune(database, Retention(keep=1)).removed == 1
    report = verify(database)
    assert (report.runs, report.executions, report.cases, report.problems) == (1, 1, 2, ())


def test_dry_run_lists_what_would_be_removed(database: Database, make_run: MakeRun):
    fill(database, make_run)
    pruned = prune(database, Retention(keep=1, dry=True))
    assert (pruned.removed, pruned.kept, pruned.protected, pruned.dry) == (3, 2, 1, True)
