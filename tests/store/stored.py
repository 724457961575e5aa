"""Read back what a store contains."""

from __future__ import annotations

import msgspec

from carob.schema import Trace
from carob.store import Database
from carob.store.blobs import get_blob


def find_trace(database: Database, execution: int, position: int) -> Trace | None:
    """The stored trace of a case, by the position of the case in its run."""
    sql = (
        "SELECT t.address FROM case_traces t JOIN executions e ON e.run = t.run"
        " WHERE e.number = ? AND t.place = ?"
    )
    row = next(database.rows(sql, (execution, position)), None)
    body = get_blob(database, "traces", row[0]) if row else None
    return msgspec.json.decode(body, type=Trace) if body else None
