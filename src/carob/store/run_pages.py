"""Parts of stored runs that pages show: heads without cases, recent verdicts of cases, traces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from carob.schema import Run, Status, Trace
from carob.store.blobs import BlobTable
from carob.store.database import Database
from carob.store.document import DocumentParts, as_bytes
from carob.store.runs import BATCH, CaseRow

_MAX_PLACES = 500
_MAX_SEARCHED = 5_000


class RunHead(NamedTuple):
    """A run without its cases."""

    number: int
    run: Run


def read_head(database: Database, execution: int) -> RunHead:
    """Read everything of an execution but its cases."""
    sql = "SELECT run, head FROM executions WHERE number = ?"
    number, head = next(database.rows(sql, (execution,)))
    return RunHead(number, DocumentParts(as_bytes(head), ()).decode(database.where).run)


def read_bodies(database: Database, run: int) -> Iterator[CaseRow]:
    """Read the cases of a run in pages, in the order of the dataset."""
    sql = f"SELECT place, body FROM cases WHERE run = ? AND place > ? ORDER BY place LIMIT {BATCH}"  # noqa: S608
    last = -1
    while page := list(database.rows(sql, (run, last))):
        yield from (CaseRow(place, as_bytes(body)) for place, body in page)
        last = page[-1][0]


def read_places(database: Database, run: int, places: Collection[int]) -> dict[int, bytes]:
    """Read the cases at some positions."""
    if not places:
        return {}
    marks = ", ".join("?" * len(places))
    sql = f"SELECT place, body FROM cases WHERE run = ? AND place IN ({marks})"  # noqa: S608
    return {place: as_bytes(body) for place, body in database.rows(sql, (run, *places))}


def recent_statuses(
    database: Database, executions: Collection[int], cases: Mapping[int, str]
) -> dict[str, list[Status]]:
    """Return the status of cases in some executions, in the order of the executions.

    Cases are looked up by position, which is indexed, and count only if the id at that position is
    the same. A run of some cases only has others at their positions; it is searched for the ids,
    unless it is so large that this would take longer than a page may.
    """
    history: dict[str, list[Status]] = {case: [] for case in cases.values()}
    if not cases:
        return history
    wanted = dict(list(cases.items())[:_MAX_PLACES])
    for execution in executions:
        found = _statuses_at(database, execution, wanted)
        missing = [case for case in wanted.values() if case not in found]
        if missing:
            found |= _statuses_of(database, execution, missing)
        for case, status in found.items():
            history[case].append(status)
    return history


def _statuses_at(database: Database, execution: int, cases: Mapping[int, str]) -> dict[str, Status]:
    marks = ", ".join("?" * len(cases))
    sql = (
        f"SELECT place, case_id, status FROM cases WHERE place IN ({marks})"  # noqa: S608
        " AND run = (SELECT run FROM executions WHERE number = ?)"
    )
    rows = database.rows(sql, (*cases, execution))
    return {case: status for place, case, status in rows if cases[place] == case}


def _statuses_of(database: Database, execution: int, cases: Collection[str]) -> dict[str, Status]:
    total = next(database.rows("SELECT total FROM executions WHERE number = ?", (execution,)))[0]
    if total > _MAX_SEARCHED:
        return {}
    marks = ", ".join("?" * len(cases))
    sql = (
        f"SELECT case_id, status FROM cases WHERE case_id IN ({marks})"  # noqa: S608
        " AND run = (SELECT run FROM executions WHERE number = ?) ORDER BY place DESC"
    )
    return dict(database.rows(sql, (*cases, execution)))


class FlipCount(NamedTuple):
    """Two runs of the same cases in the same order, compared by status."""

    same_cases: int
    """Positions at which both runs have the same case."""
    flips: int
    """Those of them that passed in one run and failed in the other."""


def count_flips(database: Database, before: int, after: int) -> FlipCount:
    """Count the flips between two executions, without reading results."""
    verdicts = "a.status IN ('passed', 'failed') AND b.status IN ('passed', 'failed')"
    sql = (
        f"SELECT COUNT(*), SUM(CASE WHEN a.status <> b.status AND {verdicts} THEN 1 ELSE 0 END)"  # noqa: S608
        " FROM cases a JOIN cases b ON b.place = a.place AND b.case_id = a.case_id"
        " WHERE a.run = (SELECT run FROM executions WHERE number = ?)"
        " AND b.run = (SELECT run FROM executions WHERE number = ?)"
    )
    same_cases, flips = next(database.rows(sql, (before, after)))
    return FlipCount(same_cases, int(flips or 0))


def read_trace(database: Database, run: int, place: int) -> Trace | None:
    """Read the trace that a case was scored by, if it was saved with the run."""
    sql = "SELECT address FROM case_traces WHERE run = ? AND place = ?"
    row = next(database.rows(sql, (run, place)), None)
    return BlobTable(database, "traces", Trace).get(row[0]) if row else None
