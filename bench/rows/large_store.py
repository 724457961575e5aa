"""A PostgreSQL store of ten million outcomes, against one of a million: tables are not partitioned,
because nothing grows with them."""

from __future__ import annotations

from collections.abc import Iterator

from bench.large_store import OUTCOMES, bytes_per_outcome, grow, prune_old
from bench.measure import OURS, Command, reported
from bench.row import Number, Row, at_most
from tests.postgres import server

_SMALL, _LARGE = 10, 100


def measure() -> Iterator[Row]:
    """Rates, size and pages of the same store before and after it has grown."""
    with server(durable=True) as url:
        small = _measure(url, _SMALL)
        large = _measure(url, _LARGE)
        large["prune"] = prune_old(url, keep=_LARGE - 10)
    many, few = f"with {_LARGE * OUTCOMES:,} outcomes", f"with {_SMALL * OUTCOMES:,} outcomes"
    yield at_most(
        "Saving a run of 100,000 outcomes in PostgreSQL",
        Number(name=many, value=large["save"], unit="s"),
        Number(name=few, value=small["save"], unit="s"),
        target=1.3,
    )
    yield at_most(
        "500 cases of a run in PostgreSQL",
        Number(name=many, value=large["page"] * 1000, unit="ms"),
        Number(name=few, value=small["page"] * 1000, unit="ms"),
        target=1.3,
    )
    yield at_most(
        "PostgreSQL per 1,000,000 outcomes of 200,000 cases, with all tables and indexes",
        Number(name=many, value=large["bytes"], unit="MB"),
        Number(name=few, value=small["bytes"], unit="MB"),
        target=1.1,
    )
    yield at_most(
        "Removing a run of 100,000 outcomes from PostgreSQL",
        Number(name="`carob store prune`", value=large["prune"], unit="s"),
        Number(name="saving it", value=large["save"], unit="s"),
        target=1.0,
    )


def _measure(url: str, runs: int) -> dict[str, float]:
    saved = grow(url, runs)
    page: Command = [OURS, "-m", "bench.large_store", "page", url]
    best = reported({"page": page}, repeats=3)
    return {"save": saved, "bytes": bytes_per_outcome(url), **best}
