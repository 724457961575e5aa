"""The index of sessions, when several servers write it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from carob.store import Database
from carob.store.inbox import (
    Payload,
    TraceUpdate,
    append_payloads,
    find_session,
    indexed_payload,
    open_inbox,
    sessions_since,
    write_index,
)
from carob.store.retention import remove_sessions


def trace(session: str, *spans: str, payload: int) -> TraceUpdate:
    return TraceUpdate(session, 2, 1, 2, None, frozenset(spans), frozenset((payload,)))


def receive(database: Database, number: int) -> None:
    append_payloads(database, [Payload(1, "traces/json", "", b"{}") for _ in range(number)])


def test_payloads_are_indexed_by_the_server_that_is_first(store_url: str):
    with open_inbox(store_url) as first, open_inbox(store_url) as second:
        receive(first, 2)
        both = {"a": trace("talk", "1", payload=1), "b": trace("talk", "2", payload=2)}
        assert write_index(first, both, 0, 2, at=5) == ["talk"]
        assert write_index(second, both, 0, 2, at=6) is None
        assert (indexed_payload(second), find_session(second, "talk").spans) == (2, 2)
        assert sessions_since(second, 4, 10) == [("talk", 5)]


def test_removed_session_does_not_come_back_from_a_slower_server(store_url: str):
    """It has read the payloads before they were removed, and writes its index after that."""
    with open_inbox(store_url) as first, open_inbox(store_url) as second:
        receive(first, 1)
        update = {"a": trace("talk", "1", payload=1)}
        assert write_index(first, update, 0, 1, at=5) == ["talk"]
        assert remove_sessions(first, ["talk"]) == 1
        assert write_index(second, update, 0, 1, at=6) is None
        assert sessions_since(second, 0, 10) == []


def test_removed_session_takes_only_its_payloads_and_no_time_for_the_others(store_url: str):
    """Receivers wait for it: a search for the traces of every payload would take minutes."""
    number = 30_000
    with open_inbox(store_url) as database:
        receive(database, number + 3)
        # Traces whose order is not that of their payloads, as in life.
        ids = {n: f"{n * 7919 % 30_011:05}" for n in range(1, number + 1)}
        update = {ids[n]: trace("busy", "1", payload=n) for n in ids}
        both = frozenset((number + 1, number + 2))
        update["gone"] = TraceUpdate("gone", 2, 1, 2, None, frozenset("1"), both | {7})
        update["stays"] = TraceUpdate("stays", 2, 1, 2, None, frozenset("1"), both - {number + 1})
        write_index(database, update, 0, number + 3, at=5)
        start = time.monotonic()
        remove_sessions(database, ["gone"])
        assert time.monotonic() - start < 5
        (row,) = database.rows("SELECT COUNT(*) FROM payloads", ())
        assert row[0] == number + 2  # all but the one that only `gone` needed
        left = database.rows("SELECT number FROM payloads WHERE number > ?", (number,))
        assert [number for (number,) in sorted(left)] == [number + 2, number + 3]


def test_spans_of_one_session_are_counted_when_two_servers_index_at_once(store_url: str):
    number = 30
    with open_inbox(store_url) as database:
        receive(database, number)

    def follow() -> None:
        with open_inbox(store_url) as own:
            while (after := indexed_payload(own)) < number:
                update = {f"t{after}": trace("talk", "1", payload=after + 1)}
                write_index(own, update, after, after + 1, at=after)

    _together(follow, follow, follow)
    with open_inbox(store_url) as database:
        assert find_session(database, "talk").spans == number


def _together(*work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=function) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
