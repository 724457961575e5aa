"""The journal of a live run."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path

from carob.api.live.journal import AttemptJournal
from carob.api.running.unfinished import StoredBatches
from carob.schema import Failed, Trace
from carob.schema.problem import ignore
from carob.store.unfinished import RunKey


def open_journal(folder: Path, total: int, *, resume: bool = False) -> AttemptJournal:
    stored = StoredBatches(RunKey("live-test", "garden", total), str(folder / "runs.db"))
    return AttemptJournal(stored, resume=resume, patient=False, report=ignore)


async def save(journal: AttemptJournal, numbers: range) -> None:
    async with asyncio.TaskGroup() as group:
        for number in numbers:
            failure = Failed(kind="agent", message="broke") if number % 10 == 0 else None
            trace = Trace(id=f"case-{number:06}#1", case=f"case-{number:06}", failure=failure)
            group.create_task(journal.save(number, trace))


def test_attempts_come_in_the_order_of_their_numbers_whatever_order_they_ended_in(tmp_path: Path):
    digests: set[str] = set()
    for name, numbers in (("up", range(40)), ("down", range(39, -1, -1))):
        (tmp_path / name).mkdir()
        journal = open_journal(tmp_path / name, 40)
        asyncio.run(save(journal, numbers))
        assert (journal.count, journal.failed) == (40, 4)
        traces = journal.finish()
        assert [trace.id for trace in traces] == [f"case-{n:06}#1" for n in range(40)]
        digests.add(traces.digest)
    assert len(digests) == 1


def test_finished_attempts_are_known_after_a_restart(tmp_path: Path):
    asyncio.run(save(open_journal(tmp_path, 40), range(7, 20)))
    resumed = open_journal(tmp_path, 40, resume=True)
    assert resumed.done == frozenset(range(7, 20))
    assert resumed.count == 13


async def _fill(journal: AttemptJournal, first: int, total: int) -> float:
    """Return the bytes of memory that each further attempt takes."""
    await save(journal, range(first))  # beyond what stays in memory
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for start in range(first, total, 400):
        await save(journal, range(start, start + 400))
        assert journal.count == start + 400
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return grown / (total - first)


def test_memory_hardly_grows_with_the_attempts(tmp_path: Path):
    """It had a dict of digests, about 200 bytes for each attempt."""
    journal = open_journal(tmp_path, 10_000)
    assert asyncio.run(_fill(journal, 1200, 10_000)) < 60
    assert len(journal.finish()) == 10_000
