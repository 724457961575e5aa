"""One case over all runs of its dataset: its last verdicts, and its past results."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from carob.api.history import list_runs
from carob.api.store import store_url
from carob.api.views.run_index import decode_result, run_indexes
from carob.schema import CaseResult, Status
from carob.schema.history import RunEntry
from carob.store import Database, exists, open_store
from carob.store.history import HistoryQuery, find_execution, recent_executions
from carob.store.run_pages import read_head, read_places, recent_statuses
from carob.store.runs import CaseQuery, read_cases

RECENT = 10
_END = "9999-01-01T00:00:00Z"
_MAX_SEARCHED = 5_000
"""Cases of a run that are searched for an id; in larger runs a case is only found at the position
that it has in the newest run."""


class PastResult(NamedTuple):
    """What became of a case in a run."""

    run: RunEntry
    result: CaseResult


def recent_verdicts(
    dataset: str, cases: Collection[str], *, store: str | None = None
) -> dict[str, tuple[Status, ...]]:
    """Return the verdicts of cases in the last runs of a dataset, oldest first."""
    if not cases or not exists(store_url(store)):
        return {}
    with open_store(store_url(store)) as database:
        executions = _executions(database, dataset)
        if not executions:
            return {}
        places = _places(database, executions[-1], cases)
        history = recent_statuses(database, executions, places)
    return {case: tuple(statuses) for case, statuses in history.items()}


def case_history(
    dataset: str, case: str, *, limit: int = 30, store: str | None = None
) -> list[PastResult]:
    """Return the results of a case in the last runs of its dataset, newest first."""
    if not exists(store_url(store)):
        return []
    runs = list_runs(dataset=dataset, limit=limit, store=store).runs
    with open_store(store_url(store)) as database:
        return list(_past_results(database, runs, case))


def _past_results(
    database: Database, runs: Collection[RunEntry], case: str
) -> Iterator[PastResult]:
    place = -1
    for entry in runs:
        execution = find_execution(database, entry.address)
        number, _ = read_head(database, execution)
        body = read_places(database, number, [place]).get(place)
        result = decode_result(body) if body else None
        if (result is None or result.case != case) and entry.cases.total <= _MAX_SEARCHED:
            rows = read_cases(database, execution, CaseQuery(case=case), 1)
            result = decode_result(rows[0].body) if rows else None
            place = rows[0].place if rows else place
        if result is not None and result.case == case:
            yield PastResult(entry, result)


def _executions(database: Database, dataset: str) -> list[int]:
    query = HistoryQuery(facets=[("dataset", dataset)])
    return recent_executions(database, query, RECENT, until=_END)


def _places(database: Database, execution: int, cases: Collection[str]) -> dict[int, str]:
    """Return where cases are in an execution; those that are not there get a position that no case
    has, so that they are searched for."""
    number, run = read_head(database, execution)
    wanted = frozenset(cases)
    index = run_indexes.get(database, number, run)
    places = {row.place: row.case for row in index.rows if row.case in wanted}
    missing = wanted.difference(places.values())
    return places | {-1 - number: case for number, case in enumerate(sorted(missing))}
