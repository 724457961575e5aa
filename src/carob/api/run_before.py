"""A stored run beside the run of its dataset before it."""

from __future__ import annotations

from functools import lru_cache
from itertools import dropwhile

from carob.api.compare import compare
from carob.api.history import list_runs, stored_run
from carob.api.store import store_url
from carob.errors import CarobError
from carob.schema import Comparison, Run
from carob.schema.history import RunEntry

_RECENT = 10
_MAX_COMPARED = 2_000
"""Larger runs are compared on request only: the statistics take longer than the page."""


def run_before(run: Run, *, store: str | None = None) -> RunEntry | None:
    """Return the newest run of the dataset before this one that has other results."""
    if run.dataset is None:
        return None
    page = list_runs(dataset=run.dataset.name, until=run.created_at, limit=_RECENT, store=store)
    # Runs of the same second: only the order of the list says which came first.
    following = [*dropwhile(lambda entry: entry.id != run.id, page.runs)] or page.runs
    return next((entry for entry in following if entry.id != run.id), None)


def compare_with_before(
    before: RunEntry, run: Run, *, store: str | None = None
) -> Comparison | None:
    """Compare two stored runs; `None` if they are too large for a page, or not comparable."""
    if max(before.cases.total, run.summary.cases.total) > _MAX_COMPARED:
        return None
    return _compare(store_url(store), before.id, run.id)


def count_flips(before: RunEntry, run: RunEntry, *, store: str | None = None) -> int | None:
    """Return how many cases flipped between two stored runs; `None` as for the comparison."""
    if max(before.cases.total, run.cases.total) > _MAX_COMPARED:
        return None
    return _count_flips(store_url(store), before.id, run.id)


# Equal ids are equal results, so that what was computed stays true. Comparisons are large, and
# numbers are not.


@lru_cache(maxsize=_RECENT)
def _compare(store: str, before: str, run: str) -> Comparison | None:
    try:
        return compare(stored_run(before, store=store), stored_run(run, store=store))
    except CarobError:  # statistics are an extra; pages work without
        return None


@lru_cache(maxsize=1_000)
def _count_flips(store: str, before: str, run: str) -> int | None:
    comparison = _compare(store, before, run)
    return len(comparison.flips) if comparison else None
