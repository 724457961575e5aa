"""Programs that time themselves: `python -m bench.outcomes PROGRAM STORE`."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg
from msgspec.json import encode
from msgspec.structs import replace

from bench.simulate import Agents, Kind
from carob.api.compare import compare
from carob.api.history import find_run
from carob.api.store import save_run
from carob.schema import (
    CaseCounts,
    CaseResult,
    CaseScore,
    MetricSpec,
    MetricSummary,
    Run,
    RunDataset,
    RunSummary,
)
from carob.schema.digest import run_id
from carob.store import Database, open_store
from carob.store.database import SqlValue
from carob.store.document import RunDocument, split_run
from carob.store.history import HistoryQuery, history_page
from carob.store.runs import CASES, OUTCOMES, case_rows, save_execution

METRICS = ("tool_trajectory_avg_score", "response_match_score", "latency", "cost", "safety")
_MANY = 200_000
_KINDS: tuple[Kind, ...] = ("score", "pass", "score", "seconds", "pass")


def store(place: str) -> float:
    """Save a run of a million outcomes, as `carob run` does."""
    run = make_run(_MANY)
    _clear(place)
    with open_store(place, create=True) as database:
        start = time.perf_counter()
        save_execution(database, split_run(run), {})
        return time.perf_counter() - start


def executemany(place: str) -> float:
    """Insert the rows of the same run, which are built before the clock starts."""
    tables = _tables(split_run(make_run(_MANY)))
    _clear(place)
    with open_store(place, create=True):
        pass
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA synchronous = FULL")
    start = time.perf_counter()
    with connection:
        for name, columns, rows in tables:
            marks = ", ".join("?" * len(columns))
            sql = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
            connection.executemany(sql, rows)
    taken = time.perf_counter() - start
    connection.close()
    return taken


def copy(place: str) -> float:
    """The same for PostgreSQL."""
    tables = _tables(split_run(make_run(_MANY)))
    _clear(place)
    with open_store(place, create=True):
        pass
    with psycopg.connect(place, options="-c search_path=carob", autocommit=True) as connection:
        start = time.perf_counter()
        with connection.transaction(), connection.cursor() as cursor:
            for name, columns, rows in tables:
                sql = f"COPY {name} ({', '.join(columns)}) FROM STDIN"
                with cursor.copy(sql.encode()) as into:
                    for row in rows:
                        into.write_row(row)
        return time.perf_counter() - start


def fill(place: str, runs: int) -> None:
    """A history of small runs."""
    with open_store(place, create=True) as database:
        list(database.rows("PRAGMA synchronous = OFF"))
        for number in range(runs):
            minute = f"{number // 1440 + 1:02}T{number // 60 % 24:02}:{number % 60:02}"
            run = make_run(2, created_at=f"2026-02-{minute}:00Z", seed=number)
            save_execution(database, split_run(run), {"branch": "main"})


def first_page(place: str) -> float:
    """The best of many."""
    with open_store(place) as database:
        return min(_timed_page(database) for _ in range(200))


def _timed_page(database: Database) -> float:
    start = time.perf_counter()
    found = history_page(database, HistoryQuery(), limit=10)
    taken = time.perf_counter() - start
    assert len(found.runs) == 10  # noqa: S101 - a page of nothing would be fast
    return taken


def keep_pairs(place: str, sizes: Sequence[int], metrics: tuple[Kind, ...] = _KINDS) -> None:
    """Two runs on the same cases for each size: `side:before-100` and `side:after-100`."""
    for cases in sizes:
        agents = Agents(cases=cases, metrics=metrics, drop=0.01)
        for run in agents.runs(1):
            whole = replace(run, id=_id(run))
            save_run(whole, store=place, labels={"side": f"{run.id}-{cases}"})


def compare_stored(place: str) -> float:
    """Two large runs compared, found in the store and read from it."""
    os.environ["CAROB_STORE"] = place
    compare(*_sides(100))  # imports what it needs
    start = time.perf_counter()
    made = compare(*_sides(100_000))
    taken = time.perf_counter() - start
    assert made.cases.same == 100_000 and len(made.metrics) == 5  # noqa: S101, PT018 - all of it
    return taken


def read_stored(place: str) -> float:
    """The same two runs, only read."""
    os.environ["CAROB_STORE"] = place
    compare(*_sides(100))
    start = time.perf_counter()
    found = [find_run(name) for name in _sides(100_000)]
    taken = time.perf_counter() - start
    assert [len(run.cases) for run in found] == [100_000, 100_000]  # noqa: S101 - all of it
    return taken


def _sides(cases: int) -> tuple[str, str]:
    return f"side:before-{cases}", f"side:after-{cases}"


def make_run(cases: int, *, created_at: str = "2026-03-01T12:00:00Z", seed: int = 0) -> Run:
    """A run with five scores for each case."""
    dataset = RunDataset(name="shop", version="1.0.0", digest="sha256:0", format="adk")
    uses = tuple(_use(name) for name in METRICS)
    run = Run(
        id="",
        created_at=created_at,
        verdict="failed",
        dataset=dataset,
        metrics=uses,
        cases=tuple(_result(seed + 31 * number, number) for number in range(cases)),
        summary=RunSummary(
            cases=CaseCounts(total=cases, failed=cases),
            metrics={name: MetricSummary(mean=0.5, failed=cases) for name in METRICS},
        ),
    )
    return replace(run, id=_id(run))


def _id(run: Run) -> str:
    return run_id(encode(run.dataset), encode(run.metrics), split_run(run).bodies)


def _use(name: str) -> MetricSpec:
    return MetricSpec(
        name=name, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
    )


def _result(seed: int, number: int) -> CaseResult:
    return CaseResult(
        case=f"case_{number}",
        trace=f"trace_{number}",
        status="failed",
        scores=tuple(_score(name, seed + place) for place, name in enumerate(METRICS)),
        paired_by="session id",
    )


def _score(name: str, seed: int) -> CaseScore:
    value = seed % 1009 / 1008
    status = "passed" if value >= 0.5 else "failed"
    reason = f"{seed % 7} of 7 expected words"
    return CaseScore(metric=name, status=status, value=value, threshold=0.5, reason=reason)


def _tables(
    document: RunDocument,
) -> list[tuple[str, tuple[str, ...], list[tuple[SqlValue, ...]]]]:
    rows = list(case_rows(1, document))
    outcomes = [tuple(outcome) for _, outcomes in rows for outcome in outcomes]
    return [("cases", CASES, [tuple(case) for case, _ in rows]), ("outcomes", OUTCOMES, outcomes)]


def _clear(place: str) -> None:
    if place.startswith("postgresql:"):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS carob CASCADE")
    else:
        for ending in ("", "-wal", "-shm"):
            Path(f"{place}{ending}").unlink(missing_ok=True)


if __name__ == "__main__":
    program, place = sys.argv[1:]
    programs = {
        "store": store,
        "executemany": executemany,
        "copy": copy,
        "page": first_page,
        "compare_stored": compare_stored,
        "read_stored": read_stored,
    }
    print(programs[program](place))
