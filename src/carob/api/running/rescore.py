"""Score the traces of a stored run again, without asking the agent again."""

from __future__ import annotations

import msgspec

from carob.api.history import stored_run
from carob.api.run_request import RunRequest
from carob.api.store import store_url
from carob.errors import RefusedError, UsageError
from carob.schema import RunTarget, Trace
from carob.store import open_store
from carob.store.blobs import BlobTable


def load_rescored(request: RunRequest, name: str) -> tuple[RunRequest, RunTarget | None]:
    """Return the request with the traces that were saved with a run, and the live agent of that
    run if it had one: it is still the one that answered."""
    if request.traces or request.recorded or request.live:
        raise UsageError("the traces of a run, and others", hint="pass only one of them")
    store = store_url(request.store)
    earlier = stored_run(name, store=store)
    traces = stored_traces(store, name)
    return msgspec.structs.replace(request, recorded=traces), earlier.target or None


def stored_traces(store: str, name: str) -> list[Trace]:
    """Return the traces that were saved with a run."""
    run = stored_run(name, store=store)
    with open_store(store) as database:
        sql = (
            "SELECT DISTINCT address FROM case_traces JOIN runs ON runs.number = case_traces.run"
            " WHERE runs.id = ? ORDER BY address"
        )
        table = BlobTable(database, "traces", Trace)
        addresses = [row[0] for row in database.rows(sql, (run.id,))]
        traces = [table.get(address) for address in addresses]
    found = [trace for trace in traces if trace is not None]
    if not found:
        hint = "`carob run --keep-traces` saves them"
        raise RefusedError(f"no traces were saved with {run.id}", hint=hint)
    return found
