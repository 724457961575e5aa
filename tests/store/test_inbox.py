"""The index of sessions, when several servers write it."""

from __future__ import annotations

import threading
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
