"""Runs in progress: the results of finished shards, from which a stopped run is resumed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from carob.schema.history import UnfinishedRun
from carob.store.database import Database
from carob.store.document import as_bytes, chain_digest, column_text
from carob.store.spending import remove_spending


class RunKey(NamedTuple):
    """Identifies a run before it has results."""

    key: str
    """A digest of everything that the run is made of."""
    dataset: str | None
    shards: int
    """The number of shards that the run is divided into."""


def save_shards(database: Database, run: RunKey, shards: Mapping[int, bytes]) -> int:
    """Save the results of shards and return how many were new. Any process may save any shard, and
    more than once: the first one counts."""
    with database.writing():
        _insert_run(database, run)
        return sum(
            _insert_shard(database, run.key, number, body)
            for number, body in sorted(shards.items())
        )


def start_run(database: Database, run: RunKey) -> None:
    """Register a run in progress, to which shards can be committed."""
    with database.writing():
        _insert_run(database, run)


def commit_shard(database: Database, run: RunKey, number: int, body: bytes) -> bool:
    """Commit the result of a shard, and return whether it is new. Any number of processes may
    commit the same shard: the first one counts. Nothing is committed to a run that is complete."""
    with database.writing():
        # The update locks the row: a run cannot be completed between the check and the insert.
        touch = "UPDATE unfinished_runs SET shards = shards WHERE key = ?"
        if not database.execute(touch, (run.key,)):
            return False
        return _insert_shard(database, run.key, number, body)


def _insert_run(database: Database, run: RunKey) -> None:
    database.execute(
        "INSERT INTO unfinished_runs (key, dataset, shards, started_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (key) DO NOTHING",
        (run.key, column_text(run.dataset), run.shards, time.time_ns() // 1000),
    )


def _insert_shard(database: Database, key: str, number: int, body: bytes) -> bool:
    sql = (
        "INSERT INTO shards (run, number, digest, body) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (run, number) DO NOTHING RETURNING 1"
    )
    return bool(list(database.rows(sql, (key, number, _digest(key, number, body), body))))


def load_shards(database: Database, key: str) -> Iterator[tuple[int, bytes]]:
    """The results of finished shards. One that was damaged is left out, and scored again."""
    for number in shard_numbers(database, key):
        sql = "SELECT digest, body FROM shards WHERE run = ? AND number = ?"
        for digest, body in list(database.rows(sql, (key, number))):
            if digest == _digest(key, number, as_bytes(body)):
                yield number, as_bytes(body)


def shard_numbers(database: Database, key: str) -> list[int]:
    """The numbers of the shards that are finished."""
    sql = "SELECT number FROM shards WHERE run = ? ORDER BY number"
    return [row[0] for row in database.rows(sql, (key,))]


def remove_unfinished(database: Database, key: str) -> bool:
    """Remove a run in progress, within a transaction, and return whether there was one."""
    # The row of the run first, as `commit_shard` does: in the other order, a process that commits
    # a shard and one that completes the run could wait for each other.
    removed = database.execute("DELETE FROM unfinished_runs WHERE key = ?", (key,))
    database.execute("DELETE FROM shards WHERE run = ?", (key,))
    remove_spending(database, key)
    return bool(removed)


def unfinished_runs(database: Database) -> tuple[UnfinishedRun, ...]:
    """All runs in progress, newest first."""
    sql = (
        "SELECT u.key, u.dataset, u.started_at, u.shards,"
        " (SELECT COUNT(*) FROM shards s WHERE s.run = u.key)"
        " FROM unfinished_runs u ORDER BY u.started_at DESC, u.key"
    )
    return tuple(
        UnfinishedRun(key=key, started_at=_time(at), dataset=dataset, shards=shards, finished=done)
        for key, dataset, at, shards, done in database.rows(sql)
    )


def _time(microseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(microseconds // 10**6))


def _digest(key: str, number: int, body: bytes) -> bytes:
    # Key and number are part of the digest, so that two bodies cannot be swapped unnoticed.
    return chain_digest(f"{key} {number} ".encode(), body)
