"""A PostgreSQL store with millions of outcomes: `python -m bench.large_store PROGRAM STORE`."""

from __future__ import annotations

import sys
import time

from bench.outcomes import METRICS, make_run
from carob.store import Database, open_store
from carob.store.document import split_run
from carob.store.prune import Retention, prune
from carob.store.run_pages import read_head, read_places
from carob.store.runs import save_execution

CASES = 20_000
"""Cases of each run, with five outcomes each."""
OUTCOMES = CASES * len(METRICS)
_PAGE = 500


def grow(place: str, runs: int) -> float:
    """Fill a store up to so many runs, and return the median seconds that saving one took."""
    seconds: list[float] = []
    with open_store(place, create=True) as database:
        for number in range(_count_runs(database), runs):
            minute = f"{number // 60:02}:{number % 60:02}"
            run = make_run(CASES, created_at=f"2026-02-01T{minute}:00Z", seed=number)
            document = split_run(run)
            start = time.perf_counter()
            save_execution(database, document, {"branch": "main"})
            seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 2]


def run_page(place: str) -> float:
    """Read the head and one page of cases of each run, and return the median seconds."""
    seconds: list[float] = []
    with open_store(place) as database:
        for execution in range(1, _count_runs(database) + 1):
            start = time.perf_counter()
            head = read_head(database, execution)
            cases = read_places(database, head.number, range(CASES // 2, CASES // 2 + _PAGE))
            seconds.append(time.perf_counter() - start)
            assert len(cases) == _PAGE  # noqa: S101 - a page of nothing would be fast
    return sorted(seconds)[len(seconds) // 2]


def bytes_per_outcome(place: str) -> float:
    """Return the size of all tables and indexes, divided by the number of outcomes."""
    sql = (
        "SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n"
        " ON n.oid = c.relnamespace WHERE n.nspname = 'carob' AND c.relkind = 'r'"
    )
    with open_store(place) as database:
        return float(next(database.rows(sql))[0]) / (_count_runs(database) * OUTCOMES)


def prune_old(place: str, keep: int) -> float:
    """Remove all runs but the newest, and return the seconds for each of them."""
    with open_store(place) as database:
        start = time.perf_counter()
        report = prune(database, Retention(keep=keep))
        return (time.perf_counter() - start) / report.removed


def _count_runs(database: Database) -> int:
    return next(database.rows("SELECT COUNT(*) FROM runs"))[0]


if __name__ == "__main__":
    program, place = sys.argv[1:]
    print({"page": run_page}[program](place))
