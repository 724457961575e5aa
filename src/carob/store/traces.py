"""The traces that a run was made from, if they are kept."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from carob.schema import Trace
from carob.store.database import Database
from carob.store.shelf import get_bytes, put_bytes, trace_json

_SOUGHT = "SELECT place, trace_id FROM cases WHERE run = ? AND trace_id IS NOT NULL"
_LINK = (
    "INSERT INTO case_traces (run, place, address) VALUES (?, ?, ?)"
    " ON CONFLICT (run, place) DO NOTHING"
)


def keep_traces(database: Database, execution: int, traces: Iterable[Trace]) -> int:
    """Keep the traces that cases of an execution were scored by; how many they are."""
    sql = "SELECT run FROM executions WHERE number = ?"
    run = next(database.rows(sql, (execution,)))[0]
    places: dict[str, list[int]] = {}
    for place, trace in database.rows(_SOUGHT, (run,)):
        places.setdefault(trace, []).append(place)
    kept = 0
    with database.writing():
        for trace in traces:
            if trace.id in places:
                address, body = trace_json(trace)
                put_bytes(database, "traces", address, body)
                for place in places[trace.id]:
                    database.execute(_LINK, (run, place, address))
                kept += 1
    return kept


def find_trace(database: Database, execution: int, place: int) -> Trace | None:
    """The trace of the case at a place of an execution, if it was kept."""
    sql = (
        "SELECT t.address FROM case_traces t JOIN executions e ON e.run = t.run"
        " WHERE e.number = ? AND t.place = ?"
    )
    found = next(database.rows(sql, (execution, place)), None)
    body = get_bytes(database, "traces", found[0]) if found else None
    return msgspec.json.decode(body, type=Trace) if body else None
