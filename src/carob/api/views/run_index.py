"""What is known of all cases of a stored run: kept in memory, filtered, and in order."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, cast, get_args

import msgspec

from carob.analysis.causes import count_causes, find_causes
from carob.errors import UsageError
from carob.files.collector import collector_paused
from carob.schema import CaseResult, Run, Status
from carob.schema.base import prepare_type
from carob.schema.causes import Cause, CauseGroup, CauseKind
from carob.schema.outcome import Scale
from carob.store import Database
from carob.store.run_pages import read_bodies

_BINS = 6
_MAX_INDEXED = 300_000
"""Cases in the indexes that are kept in memory."""
_MAX_SELECTIONS = 8
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


def parse_cause(text: str) -> Cause:
    """Read a cause that is written as `KIND:SUBJECT`. Raises `UsageError` for an unknown kind."""
    kind, _, subject = text.partition(":")
    try:
        return Cause(msgspec.convert(kind, CauseKind), subject)
    except msgspec.ValidationError as error:
        hint = f"expected KIND:SUBJECT, where KIND is one of: {', '.join(get_args(CauseKind))}"
        raise UsageError(f"unknown cause {kind!r:.80}", hint=hint) from error


class IndexRow(NamedTuple):
    """What the index knows of a case."""

    place: int
    case: str
    status: Status
    causes: tuple[Cause, ...]
    metrics: tuple[str, ...]
    """Metrics that it did not pass."""
    worst: float


_Selections = OrderedDict[CaseFilter, Sequence[IndexRow]]


@dataclass(frozen=True)
class IndexedRun:
    """The facts about all cases of a run."""

    rows: tuple[IndexRow, ...]
    worst_first: tuple[IndexRow, ...]
    places: Mapping[str, Sequence[int]]
    """The positions of each case, one for each attempt."""
    causes: tuple[CauseGroup, ...]
    histograms: Mapping[str, tuple[int, ...]]
    selections: _Selections = field(default_factory=lambda: OrderedDict())
    """The rows that the last filters selected: a window over a table asks for the same ones again
    and again. Results never change; tags do, and are not part of it."""


class Neighbours(NamedTuple):
    """The cases around one of them in the order of a table."""

    previous: str | None
    next: str | None
    position: int
    """From 1; 0 if the case is none of them."""
    total: int


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
            bodies = read_bodies(database, number)
            index = index_results(run, ((place, decode_result(body)) for place, body in bodies))
        with self._lock:
            self._indexes[key] = index
            while sum(len(kept.rows) for kept in self._indexes.values()) > _MAX_INDEXED:
                if len(self._indexes) == 1:
                    break
                self._indexes.popitem(last=False)
        return index


run_indexes = _Indexes()


def select_rows(
    database: Database,
    number: int,
    index: IndexedRun,
    wanted: CaseFilter,
    tagged: Collection[str] | None,
) -> Sequence[IndexRow]:
    """Return the rows of an index that a filter selects, in its order."""
    key = wanted._replace(tag=None)
    rows = index.selections.get(key)
    if rows is None:
        rows = filter_rows(index, key, lambda: read_bodies(database, number))
        index.selections[key] = rows
        while len(index.selections) > _MAX_SELECTIONS:
            index.selections.popitem(last=False)
    return rows if tagged is None else [row for row in rows if row.case in tagged]


def filter_rows(
    index: IndexedRun, wanted: CaseFilter, read: Callable[[], Iterable[tuple[int, bytes]]]
) -> Sequence[IndexRow]:
    """Return the rows that a filter without a tag selects. `read` returns positions and stored
    results, and is called only for a text."""
    rows = index.worst_first if wanted.order == "worst" else index.rows
    if wanted.status and wanted.order == "worst":  # sorted by status: no need to look at all
        place = _ORDER[wanted.status]
        start, end = (bisect_left(rows, (rank,), key=_rank) for rank in (place, place + 1))
        rows = rows[start:end]
    elif wanted.status:
        rows = [row for row in rows if row.status == wanted.status]
    if wanted.metric:
        rows = [row for row in rows if wanted.metric in row.metrics]
    if wanted.cause:
        rows = [row for row in rows if wanted.cause in row.causes]
    if wanted.text:
        words = wanted.text.casefold().split()
        places = {place for place, body in read() if _contains(body, words)}
        rows = [row for row in rows if row.place in places]
    return rows


def not_passed(index: IndexedRun) -> Sequence[IndexRow]:
    """Return the rows of the cases that did not pass, the worst first."""
    return index.worst_first[: bisect_left(index.worst_first, (_ORDER["info"],), key=_rank)]


def find_neighbours(
    index: IndexedRun, rows: Sequence[IndexRow], case: str, *, order: str = "worst"
) -> Neighbours:
    """Return the cases before and after a case among rows in an order. Both orders are sorted, so
    that no row has to be looked at but those around the case."""
    if len(index.places) < len(index.rows):  # several attempts at a case are one case
        rows = list({row.case: row for row in rows}.values())
        at = next((place for place, row in enumerate(rows) if row.case == case), len(rows))
    else:
        rank = _rank if order == "worst" else _place
        at = bisect_left(rows, rank(index.rows[index.places[case][0]]), key=rank)
    if at == len(rows) or rows[at].case != case:
        return Neighbours(None, rows[0].case if rows else None, 0, len(rows))
    following = rows[at + 1].case if at + 1 < len(rows) else None
    return Neighbours(rows[at - 1].case if at else None, following, at + 1, len(rows))


def _rank(row: IndexRow) -> tuple[float, ...]:
    return _ORDER[row.status], row.worst, row.place


def _place(row: IndexRow) -> tuple[float, ...]:
    return (row.place,)


def index_results(run: Run, results: Iterable[tuple[int, CaseResult]]) -> IndexedRun:
    """Return the index of the results of a run, which come with their positions."""
    rows: list[IndexRow] = []
    places: dict[str, list[int]] = {}
    causes: list[tuple[str, tuple[Cause, ...]]] = []
    bins = {spec.name: [0] * _BINS for spec in run.metrics}
    scales = {spec.name: spec.scale for spec in run.metrics}
    for place, result in results:
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
    worst_first = sorted(rows, key=_rank)
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


def _contains(body: bytes, words: Sequence[str]) -> bool:
    """Whether the texts of a result contain all words. Most results are refused without decoding
    them; the names of fields do not count."""
    plain = body.decode(errors="replace")
    # JSON from elsewhere may be escaped to ASCII: then only decoding shows what it says.
    if "\\" not in plain and not _has_all(plain, words):
        return False
    return _has_all("\n".join(_texts(msgspec.json.decode(body))), words)


def _has_all(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _texts(item)
