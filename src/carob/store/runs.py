"""Save runs to the store and read them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from carob.errors import InputError, RefusedError
from carob.files.spool import Spool
from carob.schema import CaseResult, Run, RunDataset
from carob.schema.codec import BytesCodec
from carob.schema.problem import ProgressListener, ignore
from carob.store.database import Database, SqlValue
from carob.store.document import (
    DocumentParts,
    RunDocument,
    as_bytes,
    chain_digest,
    column_text,
    creation_time,
    head_digest,
    join_document,
)
from carob.store.ledger import append_entry, save_entry
from carob.store.unfinished import remove_unfinished

CASES = ("run", "place", "case_id", "trace_id", "status", "digest", "body")
OUTCOMES = ("run", "place", "part", "metric", "status", "value", "threshold")
_EXECUTIONS = (
    *("run", "at", "created_at", "verdict", "dataset", "version"),
    *("total", "passed", "failed", "unscored", "errors", "means", "digest", "head"),
)
_FACETS = ("kind", "value", "at", "execution")
_FACET_GROUPS = ("agent", "tag")
LONGEST_FACET = 255
"""Characters of a facet; index entries have a size limit."""
BATCH = 5_000
"""Cases that are read at once."""


def save_execution(
    database: Database,
    document: RunDocument,
    labels: Mapping[str, str],
    *,
    unfinished: str | None = None,
) -> int:
    """Save an execution, and its results if they are new. When this returns, it is on disk, and
    the run in progress with the key `unfinished` is gone: a run is either complete or unfinished.
    """
    with database.writing():
        if unfinished is not None:  # first, so that the results take the place of the shards
            remove_unfinished(database, unfinished)
        return _insert(database, document, labels)


def complete_run(
    database: Database, document: RunDocument, labels: Mapping[str, str], key: str
) -> int | None:
    """Save the execution that a run in progress became. Of several processes that do so, only the
    first one saves it; the others get `None`."""
    with database.writing():
        return _insert(database, document, labels) if remove_unfinished(database, key) else None


def _insert(database: Database, document: RunDocument, labels: Mapping[str, str]) -> int:
    run = document.run
    at = creation_time(run, database.where)
    # Without the lock, pruning could remove the results between our two inserts, because no
    # execution uses them yet.
    database.lock(shared=True)
    number = _save_results(database, document)
    execution = _insert_execution(database, number, document)
    named = [*_facets(run), *(("label", label_text(*pair)) for pair in labels.items())]
    facets = dict.fromkeys((kind, facet_value(value)) for kind, value in named)
    database.load("facets", _FACETS, [(*facet, at, execution) for facet in facets])
    _save_dataset(database, at, run)
    digest = head_digest(document.head)
    append_entry(database, save_entry(execution, run.id, digest, facets, run.dataset))
    return execution


def read_run(database: Database, execution: int) -> bytes:
    """The JSON document of an execution, byte for byte as saved."""
    return join_document(*read_parts(database, execution))


def read_parts(
    database: Database, execution: int, progress: ProgressListener = ignore
) -> DocumentParts:
    """The document of an execution. Many cases are kept in a file. `progress` receives the number
    of cases."""
    run, cases, head = next(
        database.rows(
            "SELECT r.number, r.cases, e.head FROM executions e JOIN runs r ON r.number = e.run"
            " WHERE e.number = ?",
            (execution,),
        )
    )
    spool = Spool(BytesCodec())
    for number, body in enumerate(_read_bodies(database, run)):
        if number % BATCH == 0:
            progress(number, cases)
        spool.append(body)
    bodies = spool.finish()
    if len(bodies) != cases:
        message = f"the run has only {len(bodies)} of its {cases} cases"
        raise InputError(message, where=database.where, hint="run `carob store verify`")
    return DocumentParts(as_bytes(head), bodies)


def _read_bodies(database: Database, run: int) -> Iterator[bytes]:
    """The cases of a run, in pages: PostgreSQL sends the result of a query as a whole."""
    sql = f"SELECT place, body FROM cases WHERE run = ? AND place > ? ORDER BY place LIMIT {BATCH}"  # noqa: S608
    last = -1
    while page := list(database.rows(sql, (run, last))):
        yield from (as_bytes(body) for _, body in page)
        last = page[-1][0]


def label_text(key: str, value: str) -> str:
    """The facet value of a label."""
    return f"{key}={value}"


def facet_value(text: str) -> str:
    """A text as facet value: shortened, and without characters that PostgreSQL rejects."""
    return column_text(text)[:LONGEST_FACET]


def _save_results(database: Database, document: RunDocument) -> int:
    """Save the results unless they are stored already, and return the number of the run."""
    run_id = document.run.id
    sql = "INSERT INTO runs (id, cases, digest) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
    # Insert first and look afterwards: two processes that save the same run at once would both find
    # nothing if they looked first. The digest is known when all cases are written.
    new = database.execute(sql, (run_id, len(document.bodies), b"")) == 1
    query = "SELECT number, digest FROM runs WHERE id = ?"
    number, stored = next(database.rows(query, (run_id,)))
    if new:
        digest = _load_cases(database, number, document)
        database.execute("UPDATE runs SET digest = ? WHERE number = ?", (digest, number))
    elif stored != reduce(chain_digest, document.bodies, b""):
        message = f"{run_id} already exists with different results"
        raise RefusedError(message, where=database.where, hint="run `carob store verify`")
    return number


def _load_cases(database: Database, number: int, document: RunDocument) -> bytes:
    """Write the cases of a new run, decoding each once. Returns the digest that covers them."""
    rows = case_rows(number, document)
    digest = b""
    while batch := list(islice(rows, BATCH)):
        database.load("cases", CASES, [row for row, _ in batch])
        database.load("outcomes", OUTCOMES, chain.from_iterable(outcomes for _, outcomes in batch))
        digest = batch[-1][0].digest
    return digest


class NewCaseRow(NamedTuple):
    """A row of the table of cases."""

    run: int
    place: int
    case: str | None
    trace: str | None
    status: str
    digest: bytes
    """Of this case and of all before it."""
    body: bytes


def case_rows(
    number: int, document: RunDocument
) -> Iterator[tuple[NewCaseRow, list[Sequence[SqlValue]]]]:
    """Yield the row of each case, and those of its outcomes."""
    digest = b""
    rows = zip(document.run.cases, document.bodies, strict=True)
    for place, (result, body) in enumerate(rows):
        digest = chain_digest(digest, body)
        case, trace = column_text(result.case), column_text(result.trace)
        row = NewCaseRow(number, place, case, trace, result.status, digest, body)
        yield row, list(_outcome_rows(number, place, result))


def _outcome_rows(number: int, place: int, result: CaseResult) -> Iterator[Sequence[SqlValue]]:
    for part, score in enumerate(result.scores):
        metric = column_text(score.metric)
        yield number, place, part, metric, score.status, score.value, score.threshold


def _insert_execution(database: Database, number: int, document: RunDocument) -> int:
    columns = execution_columns(document.run, database.where)
    row = (number, *columns, head_digest(document.head), document.head)
    return database.add("executions", _EXECUTIONS, row)


def execution_columns(run: Run, where: str) -> tuple[SqlValue, ...]:
    """The columns by which the history lists a run without reading its document."""
    counts = run.summary.cases
    means = {
        name: summary.mean
        for name, summary in run.summary.metrics.items()
        if summary.mean is not None
    }
    dataset = (run.dataset.name, run.dataset.version) if run.dataset else (None, None)
    return (
        *(
            creation_time(run, where),
            column_text(run.created_at),
            run.verdict,
            *map(column_text, dataset),
        ),
        *(counts.total, counts.passed, counts.failed, counts.unscored, counts.errors),
        msgspec.json.encode(means).decode(),
    )


def _facets(run: Run) -> Iterator[tuple[str, str]]:
    if run.dataset:
        yield "dataset", run.dataset.name
    for group in run.summary.groups:
        if group.by in _FACET_GROUPS:
            yield group.by, group.value


def _save_dataset(database: Database, at: int, run: Run) -> None:
    if run.dataset:
        texts = dataset_columns(run.dataset)
        database.execute(
            "INSERT INTO datasets (digest, name, version, format, seen_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            (*texts, at),
        )


def dataset_columns(dataset: RunDataset) -> tuple[str | None, ...]:
    """The columns of a dataset, apart from the time at which it was first seen."""
    fields = (dataset.digest, dataset.name, dataset.version, dataset.format)
    return tuple(column_text(text) for text in fields)


class CaseQuery(NamedTuple):
    """Which cases of a run to read."""

    status: str | None = None
    case: str | None = None
    after: int = -1
    """The position of the last case that was read."""


class CaseRow(NamedTuple):
    """A case of a run as stored, and its position."""

    place: int
    body: bytes


def read_cases(database: Database, execution: int, query: CaseQuery, limit: int) -> list[CaseRow]:
    """Read some cases of an execution, in the order of the dataset."""
    conditions = ["run = (SELECT run FROM executions WHERE number = ?)", "place > ?"]
    values: list[SqlValue] = [execution, query.after]
    for column, value in (("status", query.status), ("case_id", query.case)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(column_text(value))
    sql = f"SELECT place, body FROM cases WHERE {' AND '.join(conditions)} ORDER BY place LIMIT ?"  # noqa: S608
    rows = database.rows(sql, [*values, limit])
    return [CaseRow(place, as_bytes(body)) for place, body in rows]
