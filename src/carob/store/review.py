"""Review queues and labels in the store."""

from __future__ import annotations

from typing import NamedTuple

from carob.errors import NotFoundError
from carob.store.database import Database


class StoredQueue(NamedTuple):
    """A queue as stored."""

    id: str
    run: str
    metric: str
    items: int
    created_at: str


class StoredLabel(NamedTuple):
    """A label as stored."""

    place: int
    reviewer: str
    label: str
    note: str
    at: str


def add_queue(database: Database, queue: StoredQueue) -> None:
    """Store a queue, unless it exists."""
    sql = (
        "INSERT INTO queues (id, run, metric, items, created_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO NOTHING"
    )
    with database.writing():
        database.execute(sql, queue)


def all_queues(database: Database) -> list[StoredQueue]:
    """All queues, newest first."""
    sql = "SELECT id, run, metric, items, created_at FROM queues ORDER BY created_at DESC, id"
    return [StoredQueue(*row) for row in database.rows(sql)]


def find_queue(database: Database, id: str) -> StoredQueue:
    """Find a queue by its id."""
    sql = "SELECT id, run, metric, items, created_at FROM queues WHERE id = ?"
    row = next(database.rows(sql, (id,)), None)
    if row is None:
        raise NotFoundError(f"no review queue {id!r}", hint="/review lists them")
    return StoredQueue(*row)


def count_waiting(database: Database) -> int:
    """The number of items that nobody has labelled, in all queues."""
    items = next(database.rows("SELECT COALESCE(SUM(items), 0) FROM queues"))[0]
    sql = "SELECT COUNT(*) FROM (SELECT DISTINCT queue, place FROM labels) AS labelled"
    return int(items) - int(next(database.rows(sql))[0])


def read_labels(database: Database, queue: str) -> list[StoredLabel]:
    """The labels of a queue, in the order in which they were given."""
    sql = (
        "SELECT place, reviewer, label, note, at FROM labels WHERE queue = ?"
        " ORDER BY at, place, reviewer"
    )
    return [StoredLabel(*row) for row in database.rows(sql, (queue,))]


def put_label(database: Database, queue: str, label: StoredLabel) -> None:
    """Store what a person says about an item, instead of what that person said before."""
    sql = (
        "INSERT INTO labels (queue, place, reviewer, label, note, at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (queue, place, reviewer)"
        " DO UPDATE SET label = excluded.label, note = excluded.note, at = excluded.at"
    )
    with database.writing():
        database.execute(sql, (queue, *label))


def remove_label(database: Database, queue: str, place: int, reviewer: str) -> bool:
    """Take a label back; `False` if there was none."""
    sql = "DELETE FROM labels WHERE queue = ? AND place = ? AND reviewer = ?"
    with database.writing():
        return bool(database.execute(sql, (queue, place, reviewer)))
