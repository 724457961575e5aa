"""List executions newest first, page by page, and find them by the names that users type.

Pages use an index and start where the previous one ended, so that the first page of ten thousand
runs costs as much as the first page of ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carob.errors import InputError, NotFoundError, UsageError
from carob.files.timestamps import parse_time
from carob.schema.history import HistoryPage, RunEntry
from carob.schema.run import CaseCounts
from carob.store.database import Database, SqlRow, SqlValue
from carob.store.document import microseconds
from carob.store.ledger import Labelled, append_entry
from carob.store.runs import facet_value, label_text

_SHOWN = 5
_END = 2**63 - 1
_COLUMNS = (
    "e.number, e.at, r.id, e.created_at, e.verdict, e.dataset, e.version,"
    " e.total, e.passed, e.failed, e.unscored, e.errors, e.means,"
    " (SELECT COUNT(*) FROM executions n"
    " WHERE n.run = e.run AND (n.at, n.number) > (e.at, e.number))"
)
_means = msgspec.json.Decoder(dict[str, float]).decode


class HistoryQuery(NamedTuple):
    """The filters of a listing; times are microseconds since 1970."""

    facets: Sequence[tuple[str, str]] = ()
    since: int = 0
    until: int = _END


def history_page(
    database: Database, query: HistoryQuery, *, limit: int, start: str | None = None
) -> HistoryPage:
    """A page of the history, from the newest execution or from where the previous page ended."""
    at, number = _parse_start(start) if start else (query.until, _END)
    # One row more than requested shows whether there is a next page, without counting all rows.
    rows = list(database.rows(*page_query(query, (min(at, query.until), number), limit + 1)))
    shown = rows[:limit]
    labels = labels_of(database, [row[0] for row in shown])
    last = f"{shown[-1][1]}-{shown[-1][0]}" if len(rows) > limit else None
    return HistoryPage(
        runs=tuple(_run_entry(row, labels.get(row[0], {})) for row in shown), next=last
    )


def count_matches(database: Database, query: HistoryQuery) -> int:
    """The number of executions in all pages of a listing."""
    selection, values = _select(query, (query.until, _END))
    return int(next(database.rows(f"SELECT COUNT(*) FROM {selection}", values))[0])  # noqa: S608


def recent_executions(
    database: Database, query: HistoryQuery, limit: int, *, until: str
) -> list[int]:
    """The last executions up to a time, oldest first."""
    end = min(microseconds(parse_time(until)), query.until)
    rows = [*database.rows(*page_query(query, (end, _END), limit))]
    return [row[0] for row in reversed(rows)]


def executions_with(database: Database, labels: Mapping[str, str]) -> list[int]:
    """The executions that have all of these labels, newest first."""
    query = HistoryQuery(facets=[("label", label_text(*label)) for label in labels.items()])
    return [row[0] for row in database.rows(*page_query(query, (_END, _END), _MOST_LABELLED))]


def count_cases(database: Database, executions: Iterable[int]) -> int:
    """The number of cases in some executions."""
    sql = "SELECT total FROM executions WHERE number = ?"
    return sum(row[0] for number in executions for row in database.rows(sql, (number,)))


def count_status(database: Database, execution: int, status: str | None) -> int:
    """The number of cases of an execution, or of those with a status."""
    sql = "SELECT total, passed, failed, unscored, errors FROM executions WHERE number = ?"
    total, passed, failed, unscored, errors = next(database.rows(sql, (execution,)))
    counts = {"passed": passed, "failed": failed, "unscored": unscored, "error": errors}
    if status is None:
        return total
    return counts[status] if status in counts else total - sum(counts.values())


def _parse_start(text: str) -> tuple[int, int]:
    at, _, number = text.rpartition("-")
    try:
        return int(at), int(number)
    except ValueError as error:
        hint = "use the `next` value of the previous page"
        raise UsageError(f"invalid page start {text!r}", hint=hint) from error


def page_query(query: HistoryQuery, end: tuple[int, int], limit: int) -> tuple[str, list[SqlValue]]:
    """The SQL of a page. With facets, the first one drives the query: its index is sorted by time,
    so that the page is read in order instead of sorting all matches."""
    selection, values = _select(query, end)
    order = ", ".join(f"{column} DESC" for column in _key(query))
    sql = f"SELECT {_COLUMNS} FROM {selection} ORDER BY {order} LIMIT ?"  # noqa: S608 - own words
    return sql, [*values, limit]


def _key(query: HistoryQuery) -> tuple[str, str]:
    return ("f.at", "f.execution") if query.facets else ("e.at", "e.number")


def _select(query: HistoryQuery, end: tuple[int, int]) -> tuple[str, list[SqlValue]]:
    """The tables and conditions of a listing, and their values."""
    key = _key(query)
    tables = "executions e"
    conditions: list[str] = []
    values: list[SqlValue] = []
    if query.facets:
        tables = "facets f JOIN executions e ON e.number = f.execution"
        conditions.append("f.kind = ? AND f.value = ?")
        values += _facet_values(query.facets[0])
    for facet in query.facets[1:]:
        conditions.append(_HAS_FACET)
        values += _facet_values(facet)
    # Executions of the same microsecond are ordered by number: with the time alone, a page that
    # ends between two of them would skip or repeat one.
    conditions.append(f"({key[0]}, {key[1]}) < (?, ?) AND {key[0]} >= ?")
    values += [*end, query.since]
    return f"{tables} JOIN runs r ON r.number = e.run WHERE {' AND '.join(conditions)}", values


_HAS_FACET = (
    "EXISTS (SELECT 1 FROM facets g WHERE g.kind = ? AND g.value = ? AND g.at = e.at"
    " AND g.execution = e.number)"
)


def _facet_values(facet: tuple[str, str]) -> tuple[str, str]:
    return facet[0], facet_value(facet[1])


def _run_entry(row: SqlRow, labels: Mapping[str, str]) -> RunEntry:
    _, _, run, created_at, verdict, dataset, version, *counts, means, age = row
    return RunEntry(
        id=run,
        created_at=created_at,
        verdict=verdict,
        dataset=dataset,
        version=version,
        cases=CaseCounts(*counts),
        means=_means(means),
        labels=dict(labels),
        age=age,
    )


def labels_of(database: Database, executions: Sequence[int]) -> dict[int, dict[str, str]]:
    """The labels of executions, by execution number."""
    labels: dict[int, dict[str, str]] = {}
    for execution, text in sorted(database.rows(labels_query(len(executions)), executions)):
        key, _, value = text.partition("=")
        labels.setdefault(execution, {})[key] = value
    return labels


def labels_query(executions: int) -> str:
    """The SQL of labels. No ORDER BY: to avoid a sort, SQLite would scan all labels."""
    placeholders = ", ".join("?" * executions) or "NULL"
    return (
        "SELECT execution, value FROM facets"  # noqa: S608 - only question marks are put in
        f" WHERE execution IN ({placeholders}) AND kind = 'label'"
    )


_MOST_LABELLED = 1_000
_MAX_DIGITS = 5


def find_execution(database: Database, name: str) -> int:
    """Find an execution by `latest`, `latest:DATASET`, `LABEL:VALUE`, `release` (the last one with
    such a label), or a run id or its prefix. If several match, the newest is returned; with `~1`
    at the end, as in `latest~1`, the one before it. Equal runs share an id."""
    base, tilde, number = name.rpartition("~")
    age = int(number) if tilde and number.isdecimal() and len(number) < _MAX_DIGITS else 0
    word, colon, value = (base if age else name).partition(":")
    if word == "latest" and not colon:
        return _newest(database, name, HistoryQuery(), age)
    if name == "release":
        return _last_release(database)
    if word == "latest":
        return _newest(database, name, HistoryQuery(facets=[("dataset", value)]), age)
    if colon:
        label = HistoryQuery(facets=[("label", label_text(word, value))])
        return _newest(database, name, label, age)
    base = base if age else name
    if not base:  # else the prefix of every id
        raise NotFoundError(f"no run found for {name!r}", where=database.where)
    return _by_id(database, base, age)


def _newest(database: Database, name: str, query: HistoryQuery, age: int) -> int:
    """The newest execution, or the one that is `age` executions older."""
    rows = [*database.rows(*page_query(query, (_END, _END), age + 1))]
    if len(rows) <= age:
        message = f"no run found for {name!r}"
        hint = f"there are {len(rows)} such runs" if rows else _hint_values(database, query.facets)
        raise NotFoundError(message, where=database.where, hint=hint)
    return rows[age][0]


def _last_release(database: Database) -> int:
    sql = (
        "SELECT executions.number FROM facets JOIN executions"
        " ON executions.number = facets.execution"
        " WHERE facets.kind = ? AND facets.value >= ? AND facets.value < ?"
        " ORDER BY executions.at DESC, executions.number DESC LIMIT 1"
    )
    row = next(database.rows(sql, ("label", "release=", "release>")), None)
    if row is None:
        hint = "label the run of a release with: carob run … --label release=1.4.0"
        raise NotFoundError("no run has a release label", where=database.where, hint=hint)
    return row[0]


def label_counts(database: Database, key: str, limit: int) -> list[tuple[str, int]]:
    """The values of a label and how many executions have each, the newest first."""
    sql = (
        "SELECT value, COUNT(*) FROM facets WHERE kind = 'label' AND value >= ? AND value < ?"
        " GROUP BY value ORDER BY MAX(at) DESC, value LIMIT ?"
    )
    start = label_text(key, "")
    rows = database.rows(sql, (start, f"{key}>", limit))  # the character after =
    return [(value.removeprefix(start), number) for value, number in rows]


def _hint_values(database: Database, facets: Sequence[tuple[str, str]]) -> str:
    """A hint with names that exist."""
    if not facets:
        return "the store is empty; `carob run` saves every run in it"
    ((kind, value),) = facets
    start = f"{value.partition('=')[0]}=" if kind == "label" else ""
    values = [text.removeprefix(start) for text in _values(database, kind, start)]
    word = start.removesuffix("=") or kind
    return (
        f"known values of {word}: {', '.join(values)}"
        if values
        else f"no run has a {kind} {start}…"
    )


def _values(database: Database, kind: str, start: str) -> Iterator[str]:
    """Some values of a facet, each found by one index lookup instead of a scan of all rows."""
    value, shown = start, 0
    while shown < _SHOWN:
        sign = ">=" if value == start else ">"
        sql = f"SELECT MIN(value) FROM facets WHERE kind = ? AND value {sign} ?"  # noqa: S608
        value = next(database.rows(sql, (kind, value)))[0]
        if value is None or not value.startswith(start):
            return
        yield value
        shown += 1


def _by_id(database: Database, name: str, age: int) -> int:
    prefix = name if name.startswith("run-") else f"run-{name}"
    sql = "SELECT id, number FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    # A range instead of LIKE, which would not use the index; `~` comes after all characters of ids.
    matches = list(database.rows(sql, (prefix, f"{prefix}~", _SHOWN)))
    if not matches:
        raise NotFoundError(f"no run found for {name!r}", where=database.where, hint=_HINT)
    if len(matches) > 1 and matches[0][0] != prefix:
        ids = ", ".join(row[0] for row in matches)
        raise InputError(
            f"{name!r} is ambiguous", where=database.where, hint=f"matching runs: {ids}"
        )
    newest = "SELECT number FROM executions WHERE run = ? ORDER BY at DESC, number DESC LIMIT ?"
    executions = [row[0] for row in database.rows(newest, (matches[0][1], age + 1))]
    if len(executions) <= age:
        hint = f"there are {len(executions)} executions of this run"
        raise NotFoundError(f"no run found for '{name}~{age}'", where=database.where, hint=hint)
    return executions[age]


_HINT = (
    "list runs with `carob runs`; RUN may also be a file, `latest`, `latest:DATASET`,"
    " `branch:NAME` or `release`"
)


def label_execution(database: Database, execution: int, labels: Mapping[str, str]) -> None:
    """Label an execution. Labels of the same name are replaced."""
    with database.writing():
        at = next(database.rows("SELECT at FROM executions WHERE number = ?", (execution,)))[0]
        old = labels_of(database, [execution]).get(execution, {})
        for key, value in old.items():
            if key in labels:
                sql = "DELETE FROM facets WHERE kind = 'label' AND value = ? AND at = ?"
                text = label_text(key, value)
                database.execute(f"{sql} AND execution = ?", (text, at, execution))
        rows = [("label", facet_value(label_text(*pair)), at, execution) for pair in labels.items()]
        database.load("facets", ("kind", "value", "at", "execution"), rows)
        pairs = labels_of(database, [execution]).get(execution, {}).items()
        texts = tuple(sorted(label_text(*pair) for pair in pairs))
        append_entry(database, Labelled(execution=execution, labels=texts))
