"""Runs in and out of the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import msgspec

from carob.errors import InputError, RefusedError
from carob.schema import Run
from carob.store.database import Database, Value
from carob.store.document import Document, exact, link, moment, together

CASES = ("run", "place", "case_id", "trace_id", "status", "digest", "body")
OUTCOMES = ("run", "place", "part", "metric", "status", "value", "threshold")
_EXECUTIONS = (
    *("run", "at", "created_at", "verdict", "dataset", "version"),
    *("total", "passed", "failed", "unscored", "errors", "means", "digest", "head"),
)
_FACETS = ("kind", "value", "at", "execution")
_FOUND_BY = ("agent", "tag")
_LONGEST = 255
"""Characters by which something is looked up: an index entry has its limits."""
BATCH = 5_000
"""Cases that are read in one go."""


def keep(database: Database, document: Document, labels: Mapping[str, str]) -> int:
    """Keep an execution, and its numbers if they are new. When this returns, it is on disk."""
    run = document.run
    at = moment(run, database.where)
    with database.writing():
        database.lock(shared=True)
        number = _keep_numbers(database, document)
        execution = _keep_execution(database, number, document)
        facets = [*_facets(run), *(("label", label_text(*pair)) for pair in labels.items())]
        rows = [(kind, facet(value), at, execution) for kind, value in facets]
        database.load("facets", _FACETS, dict.fromkeys(rows))
        _keep_dataset(database, at, run)
    return execution


def read(database: Database, execution: int) -> bytes:
    """The JSON document of an execution, as it was when it was kept."""
    run, cases, head = next(
        database.rows(
            "SELECT r.number, r.cases, e.head FROM executions e JOIN runs r ON r.number = e.run"
            " WHERE e.number = ?",
            (execution,),
        )
    )
    sql = "SELECT body FROM cases WHERE run = ? ORDER BY place"
    bodies = [exact(row[0]) for row in database.rows(sql, (run,))]
    if len(bodies) != cases:
        message = f"a run has {len(bodies)} of its {cases} cases"
        raise InputError(message, where=database.where, hint="see `carob store verify`")
    return together(exact(head), bodies)


def label_text(key: str, value: str) -> str:
    """How a label is looked up."""
    return f"{key}={value}"


def facet(text: str) -> str:
    """A text as it is looked up: short, and without what PostgreSQL has no place for."""
    return column(text)[:_LONGEST]


@overload
def column(text: str) -> str: ...
@overload
def column(text: str | None) -> str | None: ...
def column(text: str | None) -> str | None:
    """A text for a column that is asked; PostgreSQL has no place for NUL, the body has."""
    return text.replace("\0", "\ufffd") if text and "\0" in text else text


def _keep_numbers(database: Database, document: Document) -> int:
    """The number of the run; the same numbers are kept once."""
    links = chain(document.bodies)
    values = (document.run.id, len(document.bodies), links[-1])
    sql = "INSERT INTO runs (id, cases, digest) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING"
    new = database.execute(sql, values) == 1
    sought = "SELECT number, digest FROM runs WHERE id = ?"
    number, digest = next(database.rows(sought, (document.run.id,)))
    if digest != links[-1]:
        message = f"{document.run.id} is there already, with other numbers"
        raise RefusedError(message, where=database.where, hint="see `carob store verify`")
    if new:
        database.load("cases", CASES, case_rows(number, document, links))
        database.load("outcomes", OUTCOMES, outcome_rows(number, document.run))
    return number


def chain(bodies: Sequence[bytes]) -> list[bytes]:
    """The chain of digests; the last stands for all."""
    made = [b""]
    for body in bodies:
        made.append(link(made[-1], body))
    return made


def case_rows(number: int, document: Document, links: Sequence[bytes]) -> Iterator[Sequence[Value]]:
    for place, (one, body) in enumerate(zip(document.run.cases, document.bodies, strict=True)):
        case, trace = column(one.case), column(one.trace)
        yield number, place, case, trace, one.status, links[place + 1], body


def outcome_rows(number: int, run: Run) -> Iterator[Sequence[Value]]:
    for place, one in enumerate(run.cases):
        for part, score in enumerate(one.scores):
            yield (
                number,
                place,
                part,
                column(score.metric),
                score.status,
                score.value,
                score.threshold,
            )


def _keep_execution(database: Database, number: int, document: Document) -> int:
    columns = execution_columns(document.run, database.where)
    row = (number, *columns, link(b"", document.head), document.head)
    return database.add("executions", _EXECUTIONS, row)


def execution_columns(run: Run, where: str) -> tuple[Value, ...]:
    """What the history says of a run without opening it."""
    counts = run.summary.cases
    means = {name: one.mean for name, one in run.summary.metrics.items() if one.mean is not None}
    about = (run.dataset.name, run.dataset.version) if run.dataset else (None, None)
    return (
        *(moment(run, where), column(run.created_at), run.verdict, *map(column, about)),
        *(counts.total, counts.passed, counts.failed, counts.unscored, counts.errors),
        msgspec.json.encode(means).decode(),
    )


def _facets(run: Run) -> Iterator[tuple[str, str]]:
    if run.dataset:
        yield "dataset", run.dataset.name
    for group in run.summary.groups:
        if group.by in _FOUND_BY:
            yield group.by, group.value


def _keep_dataset(database: Database, at: int, run: Run) -> None:
    if run.dataset:
        one = run.dataset
        texts = [column(text) for text in (one.digest, one.name, one.version, one.format)]
        database.execute(
            "INSERT INTO datasets (digest, name, version, format, seen_at)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
            (*texts, at),
        )
