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
    the same: searching each run for ids would read all of it.
    """
    history: dict[str, list[Status]] = {case: [] for case in cases.values()}
    if not cases:
        return history
    places = list(cases)[:_MAX_PLACES]
    marks = ", ".join("?" * len(places))
    sql = (
        f"SELECT place, case_id, status FROM cases WHERE place IN ({marks})"  # noqa: S608
        " AND run = (SELECT run FROM executions WHERE number = ?)"
    )
    for execution in executions:
        for place, case, status in database.rows(sql, (*places, execution)):
            if cases.get(place) == case:
                history[case].append(status)
    return history


def read_trace(database: Database, run: int, place: int) -> Trace | None:
    """Read the trace that a case was scored by, if it was saved with the run."""
    sql = "SELECT address FROM case_traces WHERE run = ? AND place = ?"
    row = next(database.rows(sql, (run, place)), None)
    return BlobTable(database, "traces", Trace).get(row[0]) if row else None
