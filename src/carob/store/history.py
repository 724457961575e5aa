"""The history: executions of runs, newest first, page by page, and by the names that users give.

A page is found by an index and starts where the last one ended, so that the first page of ten
thousand runs costs what the first page of ten does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carob.errors import InputError, UsageError
from carob.schema.history import History, KeptRun
from carob.schema.run import CaseCounts
from carob.store.database import Database, Row, Value
from carob.store.runs import facet, label_text

_SHOWN = 5
_END = 2**63 - 1
_COLUMNS = (
    "e.number, e.at, r.id, e.created_at, e.verdict, e.dataset, e.version,"
    " e.total, e.passed, e.failed, e.unscored, e.errors, e.means"
)
_means = msgspec.json.Decoder(dict[str, float]).decode


class Wanted(NamedTuple):
    """What to look for; times are microseconds since 1970."""

    facets: Sequence[tuple[str, str]] = ()
    since: int = 0
    until: int = _END


def page(database: Database, wanted: Wanted, *, limit: int, start: str | None = None) -> History:
    """A page of the history, from the beginning or from where another one ended."""
    at, number = _start(start) if start else (wanted.until, _END)
    rows = list(database.rows(*page_query(wanted, (min(at, wanted.until), number), limit + 1)))
    shown = rows[:limit]
    labels = labels_of(database, [row[0] for row in shown])
    last = f"{shown[-1][1]}-{shown[-1][0]}" if len(rows) > limit else None
    return History(runs=tuple(_kept(row, labels.get(row[0], {})) for row in shown), next=last)


def _start(text: str) -> tuple[int, int]:
    at, _, number = text.rpartition("-")
    try:
        return int(at), int(number)
    except ValueError as error:
        hint = "take what the page before calls `next`"
        raise UsageError(f"{text!r} is not the start of a page", hint=hint) from error


def page_query(wanted: Wanted, end: tuple[int, int], limit: int) -> tuple[str, list[Value]]:
    """The SQL of a page. The first facet leads, because its index is in the order of time too."""
    key = ("f.at", "f.execution") if wanted.facets else ("e.at", "e.number")
    tables = "executions e"
    conditions: list[str] = []
    values: list[Value] = []
    if wanted.facets:
        tables = "facets f JOIN executions e ON e.number = f.execution"
        conditions.append("f.kind = ? AND f.value = ?")
        values += _looked_up(wanted.facets[0])
    for one in wanted.facets[1:]:
        conditions.append(_HAS)
        values += _looked_up(one)
    conditions.append(f"({key[0]}, {key[1]}) < (?, ?) AND {key[0]} >= ?")
    values += [*end, wanted.since, limit]
    sql = (
        f"SELECT {_COLUMNS} FROM {tables} JOIN runs r ON r.number = e.run"  # noqa: S608 - own words
        f" WHERE {' AND '.join(conditions)} ORDER BY {key[0]} DESC, {key[1]} DESC LIMIT ?"
    )
    return sql, values


_HAS = (
    "EXISTS (SELECT 1 FROM facets g WHERE g.kind = ? AND g.value = ? AND g.at = e.at"
    " AND g.execution = e.number)"
)


def _looked_up(one: tuple[str, str]) -> tuple[str, str]:
    return one[0], facet(one[1])


def _kept(row: Row, labels: Mapping[str, str]) -> KeptRun:
    _, _, run, created_at, verdict, dataset, version, *counts, means = row
    return KeptRun(
        id=run,
        created_at=created_at,
        verdict=verdict,
        dataset=dataset,
        version=version,
        cases=CaseCounts(*counts),
        means=_means(means),
        labels=dict(labels),
    )


def labels_of(database: Database, executions: Sequence[int]) -> dict[int, dict[str, str]]:
    """The labels of executions, by their numbers."""
    found: dict[int, dict[str, str]] = {}
    for execution, text in sorted(database.rows(labels_query(len(executions)), executions)):
        key, _, value = text.partition("=")
        found.setdefault(execution, {})[key] = value
    return found


def labels_query(executions: int) -> str:
    """The SQL of labels. It sorts nothing: SQLite would go through all labels to save the sort."""
    places = ", ".join("?" * executions) or "NULL"
    return (
        "SELECT execution, value FROM facets"  # noqa: S608 - only question marks are put in
        f" WHERE execution IN ({places}) AND kind = 'label'"
    )


def find(database: Database, name: str) -> int:
    """The execution that is meant by `latest`, `latest:DATASET`, `LABEL:VALUE`, `release` (the
    last one with such a label), or by an id or the beginning of one; of several the newest."""
    word, colon, value = name.partition(":")
    if name == "latest":
        return _newest(database, name, Wanted())
    if name == "release":
        return _last_release(database)
    if word == "latest":
        return _newest(database, name, Wanted(facets=[("dataset", value)]))
    if colon:
        return _newest(database, name, Wanted(facets=[("label", label_text(word, value))]))
    return _by_id(database, name)


def _newest(database: Database, name: str, wanted: Wanted) -> int:
    found = next(database.rows(*page_query(wanted, (_END, _END), 1)), None)
    if found is None:
        message = f"no run is {name!r}"
        raise InputError(message, where=database.where, hint=_known(database, wanted.facets))
    return found[0]


def _last_release(database: Database) -> int:
    sql = (
        "SELECT executions.number FROM facets JOIN executions"
        " ON executions.number = facets.execution"
        " WHERE facets.kind = ? AND facets.value >= ? AND facets.value < ?"
        " ORDER BY executions.at DESC, executions.number DESC LIMIT 1"
    )
    found = next(database.rows(sql, ("label", "release=", "release>")), None)
    if found is None:
        hint = "label the run of a release: carob run … --label release=1.4.0"
        raise InputError("no run is labelled as a release", where=database.where, hint=hint)
    return found[0]


def _known(database: Database, facets: Sequence[tuple[str, str]]) -> str:
    """What could have been asked for instead."""
    if not facets:
        return "the store is empty; `carob run` keeps every run in it"
    ((kind, value),) = facets
    start = f"{value.partition('=')[0]}=" if kind == "label" else ""
    known = [text.removeprefix(start) for text in _values(database, kind, start)]
    word = start.removesuffix("=") or kind
    return f"{word} is one of {', '.join(known)}" if known else f"no run has a {kind} {start}…"


def _values(database: Database, kind: str, start: str) -> Iterator[str]:
    """Some values of a facet, each found by one step through the index."""
    value, shown = start, 0
    while shown < _SHOWN:
        sign = ">=" if value == start else ">"
        sql = f"SELECT MIN(value) FROM facets WHERE kind = ? AND value {sign} ?"  # noqa: S608
        value = next(database.rows(sql, (kind, value)))[0]
        if value is None or not value.startswith(start):
            return
        yield value
        shown += 1


def _by_id(database: Database, name: str) -> int:
    prefix = name if name.startswith("run-") else f"run-{name}"
    sql = "SELECT id, number FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    found = list(database.rows(sql, (prefix, f"{prefix}~", _SHOWN)))
    if not found:
        raise InputError(f"no run is {name!r}", where=database.where, hint=_HINT)
    if len(found) > 1 and found[0][0] != prefix:
        ids = ", ".join(row[0] for row in found)
        raise InputError(f"{name!r} begins several runs", where=database.where, hint=ids)
    newest = "SELECT number FROM executions WHERE run = ? ORDER BY at DESC, number DESC LIMIT 1"
    return next(database.rows(newest, (found[0][1],)))[0]


_HINT = (
    "`carob runs` lists them; a run is also a file, `latest`, `latest:DATASET`, `branch:NAME` or"
    " `release`"
)


def label(database: Database, execution: int, labels: Mapping[str, str]) -> None:
    """Give an execution labels; one of the same name is replaced."""
    with database.writing():
        at = next(database.rows("SELECT at FROM executions WHERE number = ?", (execution,)))[0]
        old = labels_of(database, [execution]).get(execution, {})
        for key, value in old.items():
            if key in labels:
                sql = "DELETE FROM facets WHERE kind = 'label' AND value = ? AND at = ?"
                text = label_text(key, value)
                database.execute(f"{sql} AND execution = ?", (text, at, execution))
        rows = [("label", facet(label_text(*pair)), at, execution) for pair in labels.items()]
        database.load("facets", ("kind", "value", "at", "execution"), rows)
