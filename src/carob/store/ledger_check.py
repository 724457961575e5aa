"""Check the ledger, and that the store holds what the ledger says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from carob.schema import Problem, RunDataset
from carob.store.database import Database
from carob.store.document import chain_digest
from carob.store.ledger import (
    Entry,
    Facet,
    Labelled,
    LedgerRow,
    Removed,
    Saved,
    decode_entry,
    ledger_rows,
    trace_links_digest,
)
from carob.store.runs import dataset_columns, facet_value

_EXECUTIONS = (
    "SELECT e.number, r.id, e.digest FROM executions e JOIN runs r ON r.number = e.run"
    " ORDER BY e.number"
)
_FACETS = "SELECT execution, kind, value FROM facets ORDER BY execution"
_MOVED_FACETS = (
    "SELECT COUNT(*) FROM facets f JOIN executions e ON e.number = f.execution WHERE f.at <> e.at"
)
_MISSING_TRACES = (
    "SELECT COUNT(*) FROM case_traces c"
    " WHERE NOT EXISTS (SELECT 1 FROM traces t WHERE t.address = c.address)"
)


class _Execution(NamedTuple):
    """An execution as the ledger tells it."""

    run: str
    digest: str
    facets: frozenset[Facet]


class LedgerCheck:
    """Replays the ledger and compares the outcome with the tables."""

    def __init__(self, database: Database, expected_head: str | None = None) -> None:
        self.entries = 0
        self.head: str | None = None
        self.removed = 0
        self._database = database
        self._expected_head = expected_head
        self._executions: dict[int, _Execution] = {}
        self._links: dict[str, str] = {}
        self._datasets: set[tuple[str | None, ...]] = set()

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the ledger, then what the tables lack or have besides it."""
        yield from self._chain()
        yield from self._check_executions()
        yield from self._check_datasets()
        yield from self._check_traces()

    def _chain(self) -> Iterator[Problem]:
        digest, heads = b"", set[str]()
        for row in ledger_rows(self._database):
            self.entries += 1
            if row.number != self.entries:
                yield _problem(f"ledger entry {self.entries}", "was deleted")
                self.entries = row.number
            elif chain_digest(digest, row.entry) != row.digest:
                message = "was changed: it does not match its digest"
                yield _problem(f"ledger entry {row.number}", message)
            digest = row.digest
            heads.add(digest.hex())
            yield from self._replay(row)
        self.head = digest.hex() or None
        if self._expected_head and self._expected_head not in heads:
            message = f"the head {self._expected_head} is not part of the ledger"
            yield _problem(self._database.where, f"{message}: its history was rewritten")

    def _replay(self, row: LedgerRow) -> Iterator[Problem]:
        try:
            self._apply(decode_entry(row))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield _problem(f"ledger entry {row.number}", f"is not an entry: {error}")

    def _apply(self, entry: Entry) -> None:
        match entry:
            case Saved():
                facets = frozenset(entry.facets)
                self._executions[entry.execution] = _Execution(entry.run, entry.digest, facets)
                self._add_dataset(entry.dataset)
            case Labelled():
                self._replace_labels(entry)
            case Removed():
                self.removed += len(entry.executions)
                for number in entry.executions:
                    self._executions.pop(number, None)
                runs = {execution.run for execution in self._executions.values()}
                self._links = {run: link for run, link in self._links.items() if run in runs}
            case _:
                self._links[entry.run] = entry.digest

    def _add_dataset(self, dataset: RunDataset | None) -> None:
        if dataset:
            self._datasets.add(dataset_columns(dataset))

    def _replace_labels(self, entry: Labelled) -> None:
        old = self._executions.get(entry.execution)
        if old:
            others = {facet for facet in old.facets if facet[0] != "label"}
            labels = {("label", facet_value(text)) for text in entry.labels}
            self._executions[entry.execution] = old._replace(facets=frozenset(others | labels))

    def _check_executions(self) -> Iterator[Problem]:
        stored = {row[0]: row[1:] for row in self._database.rows(_EXECUTIONS)}
        for number in sorted(self._executions.keys() - stored.keys()):
            yield _problem(f"{self._executions[number].run} execution {number}", "was deleted")
        for number in sorted(stored.keys() - self._executions.keys()):
            where = f"{stored[number][0]} execution {number}"
            yield _problem(where, "was added without an entry in the ledger")
        facets = _group_facets(self._database.rows(_FACETS))
        for number in sorted(stored.keys() & self._executions.keys()):
            told = self._executions[number]
            where = f"{told.run} execution {number}"
            run, digest = stored[number]
            if (run, bytes(digest).hex()) != (told.run, told.digest):
                yield _problem(where, "was replaced: it does not match the ledger")
            yield from _compare_facets(where, facets.get(number, frozenset()), told.facets)
        # Facets are sorted by their own copy of the time: another one would change which run is
        # the latest of a branch.
        if moved := next(self._database.rows(_MOVED_FACETS))[0]:
            yield _problem("facets", f"{moved} have another time than their execution")

    def _check_datasets(self) -> Iterator[Problem]:
        rows = list(self._database.rows("SELECT digest, name, version, format FROM datasets"))
        for digest, *names in sorted(rows, key=str):
            if (digest, *names) not in self._datasets:
                message = f"is called {names[0]!r}, which no run of it says"
                yield _problem(f"dataset {digest}", message)
        present = {row[0] for row in rows}
        for digest in sorted({str(row[0]) for row in self._datasets} - present):
            yield _problem(f"dataset {digest}", "was deleted")

    def _check_traces(self) -> Iterator[Problem]:
        runs = {run: number for number, run in self._database.rows("SELECT number, id FROM runs")}
        for run, digest in sorted(self._links.items()):
            if run in runs and trace_links_digest(self._database, runs[run]) != digest:
                yield _problem(run, "its traces were deleted or exchanged")
        linked = self._database.rows("SELECT DISTINCT run FROM case_traces")
        told = {runs.get(run) for run in self._links}
        if extra := {row[0] for row in linked} - told:
            yield _problem("case_traces", f"{len(extra)} runs have traces without a ledger entry")
        missing = next(self._database.rows(_MISSING_TRACES))[0]
        if missing:
            yield _problem("traces", f"{missing} traces of cases were deleted")


def _group_facets(rows: Iterable[Sequence[object]]) -> dict[int, frozenset[Facet]]:
    groups: dict[int, set[Facet]] = {}
    for execution, kind, value in rows:
        groups.setdefault(int(str(execution)), set()).add((str(kind), str(value)))
    return {execution: frozenset(facets) for execution, facets in groups.items()}


def _compare_facets(where: str, now: frozenset[Facet], then: frozenset[Facet]) -> Iterator[Problem]:
    for kind, value in sorted(then - now):
        yield _problem(where, f"its {kind} {value!r} was deleted")
    for kind, value in sorted(now - then):
        yield _problem(where, f"its {kind} {value!r} was added without an entry in the ledger")


def _problem(where: str, message: str) -> Problem:
    return Problem(where=where, message=message, severity="error")
