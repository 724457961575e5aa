"""A stored run as people look at it: causes, and filtered cases with their recent verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from carob.api.datasets import case_lines
from carob.api.golden.folder import GoldenFolder, find_file
from carob.api.history import earlier_runs, stored_run
from carob.api.load import REGISTRY
from carob.api.metrics import metrics
from carob.api.run_cases import tagged_cases
from carob.api.store import store_url
from carob.api.views.run_before import compare_with_before, run_before
from carob.api.views.run_index import (
    CaseFilter,
    decode_result,
    run_indexes,
    select_rows,
)
from carob.report.forms import ReportInputs
from carob.schema import CaseResult, Comparison, Run, Status
from carob.schema.causes import CauseGroup
from carob.schema.history import RunEntry, RunIndex
from carob.store import Database, open_store
from carob.store.history import HistoryQuery, find_execution, labels_of, recent_executions
from carob.store.run_pages import read_head, read_places, recent_statuses

MAX_ROWS = 1000
"""Cases that a page shows at once; beyond, they come in pages."""
PAGE = 100
"""Cases of such a page: about 60 kB, and what scripts load at once."""
_READ = 500
"""Cases that one query reads."""
_RECENT = 10


class CaseLine(NamedTuple):
    """A case of a run, and its verdicts in the last runs of the dataset, oldest first."""

    place: int
    result: CaseResult
    recent: tuple[Status, ...]


class RunView(NamedTuple):
    """A run, why cases failed, and one page of its cases."""

    run: Run
    """Without its cases."""
    labels: Mapping[str, str]
    causes: tuple[CauseGroup, ...]
    lines: tuple[CaseLine, ...]
    matched: int
    """Cases that the filter selects."""
    page: int
    pages: int
    before: RunEntry | None
    """The run of the same dataset before this one."""
    comparison: Comparison | None
    """With that run; `None` if there is none, or comparing takes too long for a page."""
    histograms: Mapping[str, tuple[int, ...]]
    """By metric: how many scores are in each part of its scale."""


def view_run(
    name: str,
    wanted: CaseFilter | None = None,
    *,
    page: int = 1,
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> RunView:
    """Return a stored run with its causes and the cases that a filter selects."""
    wanted = wanted or CaseFilter()
    with open_store(store_url(store)) as database:
        execution = find_execution(database, name)
        labels = labels_of(database, [execution]).get(execution, {})
        number, run = read_head(database, execution)
        index = run_indexes.get(database, number, run)
        tagged = tagged_cases(run, wanted.tag, golden, registry)
        rows = select_rows(database, number, index, wanted, tagged)
        pages = -(-len(rows) // PAGE) if len(rows) > MAX_ROWS else 1
        page = min(max(page, 1), pages)
        shown = rows[(page - 1) * PAGE : page * PAGE] if pages > 1 else rows
        lines = read_lines(database, number, run, {row.place: row.case for row in shown})
    before = run_before(run, store=store)
    comparison = compare_with_before(before, run, store=store) if before else None
    return RunView(
        run,
        labels,
        index.causes,
        lines,
        len(rows),
        page,
        pages,
        before,
        comparison,
        index.histograms,
    )


def stored_report(name: str, folder: GoldenFolder, *, store: str | None = None) -> ReportInputs:
    """Return the inputs of a report of a stored run; lines of cases come from the golden file of
    its dataset in the folder."""
    run = stored_run(name, store=store)

    def load_case_lines() -> Mapping[str, tuple[str, int]]:
        if run.dataset is None:
            return {}
        file = find_file(folder, run.dataset.name)
        return {case: (file.name, line) for case, (_, line) in case_lines(file).items()}

    return ReportInputs(
        run,
        load_case_lines=load_case_lines,
        load_metrics=metrics,
        load_earlier_runs=lambda: earlier_runs(run, store=store),
    )


def index_run(name: str, *, store: str | None = None) -> RunIndex:
    """Return what a table of all cases shows, as compact as JSON can be."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        rows = run_indexes.get(database, number, run).rows
    return RunIndex(
        run=run.id,
        columns=("place", "case", "status", "worst", "not_passed"),
        rows=tuple((row.place, row.case, row.status, row.worst, row.metrics) for row in rows),
    )


class RowsView(NamedTuple):
    """Some of the cases of a run that a filter selects."""

    run: Run
    """Without its cases."""
    lines: tuple[CaseLine, ...]
    matched: int
    """Cases that the filter selects."""


def view_rows(
    name: str,
    wanted: CaseFilter,
    *,
    start: int,
    limit: int,
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> RowsView:
    """Return some of the cases that a filter selects, for a window over a large run."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        index = run_indexes.get(database, number, run)
        tagged = tagged_cases(run, wanted.tag, golden, registry)
        rows = select_rows(database, number, index, wanted, tagged)
        shown = {row.place: row.case for row in rows[start : start + limit]}
        lines = read_lines(database, number, run, shown)
    return RowsView(run, lines, len(rows))


def read_lines(
    database: Database, number: int, run: Run, cases: Mapping[int, str]
) -> tuple[CaseLine, ...]:
    bodies = {
        place: body
        for start in range(0, len(cases), _READ)
        for place, body in read_places(database, number, list(cases)[start : start + _READ]).items()
    }
    recent = _recent(database, run, cases)
    return tuple(
        CaseLine(place, decode_result(bodies[place]), tuple(recent.get(case, ())))
        for place, case in cases.items()
    )


def _recent(database: Database, run: Run, cases: Mapping[int, str]) -> dict[str, list[Status]]:
    if run.dataset is None or len(set(cases.values())) < len(cases):
        return {}  # several attempts at a case are shown as such
    query = HistoryQuery(facets=[("dataset", run.dataset.name)])
    executions = recent_executions(database, query, _RECENT, until=run.created_at)
    return recent_statuses(database, executions, cases)
