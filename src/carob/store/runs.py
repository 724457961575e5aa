"""Save runs to the store and read them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import msgspec

from carob.errors import InputError, RefusedError
from carob.schema import Run
from carob.store.database import Database, SqlValue
from carob.store.document import (
    RunDocument,
    as_bytes,
    chain_digest,
    creation_time,
    join_document,
)

CASES = ("run", "place", "case_id", "trace_id", "status", "digest", "body")
OUTCOMES = ("run", "place", "part", "metric", "status", "value", "threshold")
_EXECUTIONS = (
    *("run", "at", "created_at", "verdict", "dataset", "version"),
    *("total", "passed", "failed", "unscored", "errors", "means", "digest", "head"),
)
_FACETS = ("kind", "value", "at", "execution")
_FACET_GROUPS = ("agent", "tag")
_LONGEST = 255
"""Characters of a facet; index entries have a size limit."""
BATCH = 5_000
"""Cases that are read at once."""


def save_execution(database: Database, document: RunDocument, labels: Mapping[str, str]) -> int:
    """Save an execution, and its results if they are new. When this returns, it is on disk."""
    run = document.run
    at = creation_time(run, database.where)
    with database.writing():
        # Without the lock, pruning could remove the results between our two inserts, because no
        # execution uses them yet.
        database.lock(shared=True)
        number = _save_results(database, document)
        execution = _insert_execution(database, number, document)
        facets = [*_facets(run), *(("label", label_text(*pair)) for pair in labels.items())]
        rows = [(kind, facet_value(value), at, execution) for kind, value in facets]
        database.load("facets", _FACETS, dict.fromkeys(rows))
        _save_dataset(database, at, run)
    return execution


def read_run(database: Database, execution: int) -> bytes:
    """The JSON document of an execution, byte for byte as saved."""
    run, cases, head = next(
        database.rows(
            "SELECT r.number, r.cases, e.head FROM executions e JOIN runs r ON r.number = e.run"
            " WHERE e.number = ?",
            (execution,),
        )
    )
    sql = "SELECT body FROM cases WHERE run = ? ORDER BY place"
    bodies = [as_bytes(row[0]) for row in database.rows(sql, (run,))]
    if len(bodies) != cases:
        message = f"the run has only {len(bodies)} of its {cases} cases"
        raise InputError(message, where=database.where, hint="run `carob store verify`")
    return join_document(as_bytes(head), bodies)


def label_text(key: str, value: str) -> str:
    """The facet value of a label."""
    return f"{key}={value}"


def facet_value(text: str) -> str:
    """A text as facet value: shortened, and without characters that PostgreSQL rejects."""
    return column_text(text)[:_LONGEST]


@overload
def column_text(text: str) -> str: ...
@overload
def column_text(text: str | None) -> str | None: ...
def column_text(text: str | None) -> str | None:
    """A text for a column. PostgreSQL rejects NUL in text; the body keeps it."""
    return text.replace("\0", "\ufffd") if text and "\0" in text else text


def _save_results(database: Database, document: RunDocument) -> int:
    """Save the results unless they are stored already, and return the number of the run."""
    links = digest_chain(document.bodies)
    values = (document.run.id, len(document.bodies), links[-1])
    sql = "INSERT INTO runs (id, cases, digest) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
    # Insert first and look afterwards: two processes that save the same run at once would both find
    # nothing if they looked first.
    new = database.execute(sql, values) == 1
    query = "SELECT number, digest FROM runs WHERE id = ?"
    number, digest = next(database.rows(query, (document.run.id,)))
    if digest != links[-1]:
        message = f"{document.run.id} already exists with different results"
        raise RefusedError(message, where=database.where, hint="run `carob store verify`")
    if new:
        database.load("cases", CASES, case_rows(number, document, links))
        database.load("outcomes", OUTCOMES, outcome_rows(number, document.run))
    return number


def digest_chain(bodies: Sequence[bytes]) -> list[bytes]:
    """The chain of digests, of which the last covers all bodies."""
    digests = [b""]
    for body in bodies:
        digests.append(chain_digest(digests[-1], body))
    return digests


def case_rows(
    number: int, document: RunDocument, links: Sequence[bytes]
) -> Iterator[Sequence[SqlValue]]:
    for place, (result, body) in enumerate(zip(document.run.cases, document.bodies, strict=True)):
        case, trace = column_text(result.case), column_text(result.trace)
        yield number, place, case, trace, result.status, links[place + 1], body


def outcome_rows(number: int, run: Run) -> Iterator[Sequence[SqlValue]]:
    for place, result in enumerate(run.cases):
        for part, score in enumerate(result.scores):
            yield (
                number,
                place,
                part,
                column_text(score.metric),
                score.status,
                score.value,
                score.threshold,
            )


def _insert_execution(database: Database, number: int, document: RunDocument) -> int:
    columns = execution_columns(document.run, database.where)
    row = (number, *columns, chain_digest(b"", document.head), document.head)
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
        dataset = run.dataset
        texts = [
            column_text(text)
            for text in (dataset.digest, dataset.name, dataset.version, dataset.format)
        ]
        database.execute(
            "INSERT INTO datasets (digest, name, version, format, seen_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            (*texts, at),
        )
