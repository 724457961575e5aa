"""A stored run as people look at it: causes, and filtered cases with their recent verdicts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from carob.analysis.causes import count_causes, find_causes
from carob.api.datasets import case_lines
from carob.api.golden import GoldenFolder, dataset_name, find_file, golden_files
from carob.api.history import earlier_runs, stored_run
from carob.api.load import REGISTRY, load
from carob.api.metrics import metrics
from carob.api.run_before import compare_with_before, run_before
from carob.api.store import store_url
from carob.api.versions import load_reference
from carob.errors import CarobError
from carob.files.collector import collector_paused
from carob.report.forms import ReportInputs
from carob.schema import Case, CaseResult, Comparison, Run, Status
from carob.schema.base import prepare_type
from carob.schema.causes import Cause, CauseGroup
from carob.schema.history import RunEntry, RunIndex
from carob.schema.outcome import Scale
from carob.store import Database, open_store
from carob.store.history import HistoryQuery, find_execution, recent_executions
from carob.store.run_pages import (
    read_bodies,
    read_head,
    read_places,
    recent_statuses,
)

MAX_ROWS = 1000
"""Cases that a page shows at once; beyond, they come in pages."""
PAGE = 100
"""Cases of such a page: about 60 kB, and what scripts load at once."""
_BINS = 6
_READ = 500
"""Cases that one query reads."""
_RECENT = 10
_MAX_INDEXED = 300_000
"""Cases in the indexes that are kept in memory."""
_ORDER: dict[str, int] = {"failed": 0, "error": 1, "unscored": 2, "info": 3, "passed": 4}
decode_result = msgspec.json.Decoder(prepare_type(CaseResult)).decode


class CaseFilter(NamedTuple):
    """Which cases of a run to show."""

    status: str | None = None
    metric: str | None = None
    """A metric that the case did not pass."""
    cause: Cause | None = None
    text: str = ""
    """Words that the stored result contains: ids, reasons and conversations."""
    order: str = "worst"
    """`worst` first, or in the order of the `dataset`."""
    tag: str | None = None
    """A tag of the golden case."""


class CaseLine(NamedTuple):
    """A case of a run, and its verdicts in the last runs of the dataset, oldest first."""

    place: int
    result: CaseResult
    recent: tuple[Status, ...]


class RunView(NamedTuple):
    """A run, why cases failed, and one page of its cases."""

    run: Run
    """Without its cases."""
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


class IndexRow(NamedTuple):
    """What the index knows of a case."""

    place: int
    case: str
    status: Status
    causes: tuple[Cause, ...]
    metrics: tuple[str, ...]
    """Metrics that it did not pass."""
    worst: float


class IndexedRun(NamedTuple):
    """The facts about all cases of a run."""

    rows: tuple[IndexRow, ...]
    worst_first: tuple[IndexRow, ...]
    places: Mapping[str, Sequence[int]]
    """The positions of each case, one for each attempt."""
    causes: tuple[CauseGroup, ...]
    histograms: Mapping[str, tuple[int, ...]]


class _Indexes:
    """The indexes of runs that were looked at last. Results of a run never change, so that an
    index stays valid."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[tuple[str, str], IndexedRun] = OrderedDict()
        self._lock = Lock()

    def get(self, database: Database, number: int, run: Run) -> IndexedRun:
        key = (database.where, run.id)
        with self._lock:
            if key in self._indexes:
                self._indexes.move_to_end(key)
                return self._indexes[key]
        with collector_paused():
            index = _build_index(database, number, run)
        with self._lock:
            self._indexes[key] = index
            while sum(len(kept.rows) for kept in self._indexes.values()) > _MAX_INDEXED:
                if len(self._indexes) == 1:
                    break
                self._indexes.popitem(last=False)
        return index


run_indexes = _Indexes()


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
        number, run = read_head(database, find_execution(database, name))
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
        run, index.causes, lines, len(rows), page, pages, before, comparison, index.histograms
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


def view_rows(
    name: str,
    wanted: CaseFilter,
    *,
    start: int,
    limit: int,
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> tuple[Run, tuple[CaseLine, ...]]:
    """Return some of the cases that a filter selects, for a window over a large run."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        index = run_indexes.get(database, number, run)
        tagged = tagged_cases(run, wanted.tag, golden, registry)
        rows = select_rows(database, number, index, wanted, tagged)[start : start + limit]
        lines = read_lines(database, number, run, {row.place: row.case for row in rows})
    return run, lines


def select_rows(
    database: Database,
    number: int,
    index: IndexedRun,
    wanted: CaseFilter,
    tagged: Collection[str] | None,
) -> list[IndexRow]:
    """Return the rows of an index that a filter selects, in its order."""
    rows = list(index.worst_first if wanted.order == "worst" else index.rows)
    if wanted.status or wanted.metric or wanted.cause:
        rows = [row for row in rows if _matches(row, wanted)]
    if tagged is not None:
        rows = [row for row in rows if row.case in tagged]
    if wanted.text:
        places = _places_with(database, number, wanted.text)
        rows = [row for row in rows if row.place in places]
    return rows


def tagged_cases(run: Run, tag: str | None, golden: Path, registry: Path) -> Collection[str] | None:
    """Return the cases with a tag. Runs do not store tags, so that the golden data says it."""
    if tag is None:
        return None
    if run.dataset is None:
        return ()
    datasets = find_datasets(run.dataset.name, run.dataset.version, golden, registry)
    cases = next(iter(datasets), ())
    return {case.id for case in cases if tag.casefold() in map(str.casefold, case.tags)}


def find_datasets(
    name: str, version: str | None, golden: Path, registry: Path
) -> Iterator[Sequence[Case]]:
    """Yield the cases of a dataset: of the release that is named, then of the files in the folder
    that hold it."""
    if version:
        with suppress(CarobError):  # not released here; a file may still have it
            yield load_reference(f"{name}@{version}", registry).cases
    folder = GoldenFolder(golden, registry)
    for file in golden_files(folder):
        with suppress(CarobError):  # the page of datasets says what is wrong with it
            if dataset_name(file) == name:
                yield load(file).cases


def _build_index(database: Database, number: int, run: Run) -> IndexedRun:
    rows: list[IndexRow] = []
    places: dict[str, list[int]] = {}
    causes: list[tuple[str, tuple[Cause, ...]]] = []
    bins = {spec.name: [0] * _BINS for spec in run.metrics}
    scales = {spec.name: spec.scale for spec in run.metrics}
    for place, body in read_bodies(database, number):
        result = decode_result(body)
        found: tuple[Cause, ...] = ()
        if result.status not in ("passed", "info"):
            found = find_causes(result)
            causes.append((result.case or result.trace or "", found))
        row = _row(place, result, found)
        rows.append(row)
        places.setdefault(row.case, []).append(place)
        for score in result.scores:
            if score.value is not None and score.metric in scales:
                bins[score.metric][_bin(score.value, scales[score.metric])] += 1
    histograms = {name: tuple(counts) for name, counts in bins.items()}
    worst_first = sorted(rows, key=lambda row: (_ORDER[row.status], row.worst, row.place))
    return IndexedRun(tuple(rows), tuple(worst_first), places, count_causes(causes), histograms)


def _bin(value: float, scale: Scale) -> int:
    low, high = scale
    span = (1.0 if high is None else high) - low
    return min(max(int((value - low) / span * _BINS), 0), _BINS - 1) if span else 0


def _row(place: int, result: CaseResult, causes: tuple[Cause, ...]) -> IndexRow:
    metrics = tuple(s.metric for s in result.scores if s.status not in ("passed", "info"))
    values = [s.value for s in result.scores if s.threshold is not None and s.value is not None]
    worst = min(values) if values else 0.0
    name = result.case if result.case is not None else result.trace or ""
    return IndexRow(place, name, result.status, causes, metrics, worst)


def _matches(row: IndexRow, wanted: CaseFilter) -> bool:
    return (
        (wanted.status is None or row.status == wanted.status)
        and (wanted.metric is None or wanted.metric in row.metrics)
        and (wanted.cause is None or wanted.cause in row.causes)
    )


def _places_with(database: Database, number: int, text: str) -> set[int]:
    """Return the positions of the results that contain all words."""
    words = text.casefold().split()
    return {
        place
        for place, body in read_bodies(database, number)
        if all(word in _plain_text(body) for word in words)
    }


def _plain_text(body: bytes) -> str:
    text = body.decode(errors="replace")
    # JSON from elsewhere may be escaped to ASCII; only then is it worth decoding.
    return str(msgspec.json.decode(body) if "\\" in text else text).casefold()


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
