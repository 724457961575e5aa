"""A stored run beside the run of its dataset before it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import dropwhile

from carob.analysis.changed_inputs import shared_metrics
from carob.api.compare import compare
from carob.api.history import list_runs, stored_run
from carob.api.store import store_url
from carob.errors import CarobError
from carob.schema import Comparison, Run
from carob.schema.history import RunEntry
from carob.store import open_store
from carob.store import run_pages as stored
from carob.store.history import find_execution

_RECENT = 10
_MAX_COMPARED = 2_000
"""Larger runs are compared on request only: the statistics take longer than the page."""
_MAX_COUNTED = 20_000
"""Flips of larger runs are counted in the background: at 100,000 cases it takes 0.1 to 0.3 s."""


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
    """Return how many cases flipped between two stored runs; `None` if the runs are not comparable,
    or while a large number of cases is still being counted."""
    largest = max(before.cases.total, run.cases.total)
    if largest <= _MAX_COMPARED:
        return _count_flips(store_url(store), before.id, run.id)
    counting = _start_counting(store_url(store), before.id, run.id)
    return counting.result() if largest <= _MAX_COUNTED or counting.done() else None


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


@lru_cache(maxsize=1_000)
def _start_counting(store: str, before: str, run: str) -> Future[int | None]:
    return _counters().submit(_count_large, store, before, run)


@lru_cache(maxsize=1)
def _counters() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, thread_name_prefix="carob-flips")


def _count_large(store: str, before: str, run: str) -> int | None:
    """Count by the stored statuses, if these are what a comparison would look at."""
    try:
        with open_store(store) as database:
            executions = [find_execution(database, name) for name in (before, run)]
            heads = [stored.read_head(database, execution).run for execution in executions]
            if not _statuses_are_comparable(*heads):
                return None
            count = stored.count_flips(database, *executions)
    except CarobError:  # pruned meanwhile
        return None
    # Attempts at a case are compared as one, and other selections have other cases at a place.
    same = all(head.summary.cases.total == count.same_cases for head in heads)
    return count.flips if same else None


def _statuses_are_comparable(before: Run, after: Run) -> bool:
    """Whether the same rules decided both runs: otherwise a comparison derives the statuses again
    from the metrics that both share."""
    digests = {run.dataset.digest if run.dataset else None for run in (before, after)}
    same_golden = len(digests) == 1 and None not in digests
    deciding = any(spec.threshold is not None for spec in after.metrics)
    single = not (before.summary.attempts or after.summary.attempts)
    by_profile = before.summary.composite is not None or after.summary.composite is not None
    same_rules = not shared_metrics(before, after).changes
    return same_golden and deciding and single and same_rules and not by_profile
