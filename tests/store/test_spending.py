"""Several processes share the limits of judges through the store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from carob.schema.judge import CallLimits
from carob.store import open_store
from carob.store.spending import StoredSpending, remove_spending

_WORKER = """
import asyncio, os, signal, sys
from carob.judges.client.budget import Budget, BudgetExceededError, CallKind
from carob.store.spending import StoredSpending
url, log, kill_after = sys.argv[1], sys.argv[2], int(sys.argv[3])
deadline = 1.0 if kill_after else 60.0
budget = Budget(max_cost=0.2)
budget.shared = StoredSpending(url, "run")
calls = 0

async def ask():
    global calls
    async with budget.reserve(0.02, CallKind("openai:judge", 3, deadline)) as cost:
        calls += 1
        with open(log, "a") as file:
            file.write("+")
        await asyncio.sleep(0.02)
        if calls >= kill_after > 0:
            os.kill(os.getpid(), signal.SIGKILL)
        with open(log, "a") as file:
            file.write("-")
        cost.cost = 0.01

async def main():
    results = await asyncio.gather(*(ask() for _ in range(20)), return_exceptions=True)
    assert {type(error) for error in results} <= {type(None), BudgetExceededError}, results

asyncio.run(main())
print(calls)
"""
_LIMITS = CallLimits(max_calls=None, max_cost=1.0, concurrency=16, seconds=60)


def test_processes_never_spend_more_than_the_limit_together(tmp_path: Path, store_url: str):
    open_spending(store_url)
    log = tmp_path / "calls.txt"
    workers = [start_worker(store_url, log) for _ in range(2)]
    assert [worker.communicate()[1] for worker in workers] == [b"", b""]
    events = log.read_text()
    # A call costs 0.01, but the last one could not reserve the 0.02 that it might have cost.
    assert events.count("+") == events.count("-") == 19
    running = [events[:end].count("+") - events[:end].count("-") for end in range(len(events))]
    assert max(running) <= 3


def test_calls_of_a_killed_process_count_in_full(tmp_path: Path, store_url: str):
    open_spending(store_url)
    log = tmp_path / "calls.txt"
    killed = start_worker(store_url, log, kill_after=1)
    assert killed.communicate()[1] == b""
    assert killed.returncode == -signal.SIGKILL
    cut_off = log.read_text().count("+")
    assert start_worker(store_url, log, kill_after=99).communicate()[1] == b""
    finished = log.read_text().count("-")
    assert cut_off > 0
    assert finished == 19 - 2 * cut_off


def start_worker(store_url: str, log: Path, *, kill_after: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _WORKER, store_url, str(log), str(kill_after)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )


def test_call_waits_for_running_calls_and_is_refused_afterwards(tmp_path: Path, store_url: str):
    spending = open_spending(store_url)
    first = spending.reserve("m", 0.9, _LIMITS)
    assert first.ticket
    assert spending.reserve("m", 0.2, _LIMITS) == (None, None)
    spending.settle(first.ticket, 0.85)
    assert spending.reserve("m", 0.2, _LIMITS).refused == "cost"
    assert spending.reserve("m", 0.15, _LIMITS).ticket


def test_call_of_a_process_that_is_gone_counts_in_full(store_url: str):
    spending = open_spending(store_url)
    assert spending.reserve("m", 0.9, _LIMITS._replace(seconds=0)).ticket
    assert spending.reserve("m", 0.2, _LIMITS).refused == "cost"
    assert spending.reserve("m", 0.1, _LIMITS).ticket


def test_calls_are_limited_in_number_and_at_the_same_time(store_url: str):
    spending, limits = open_spending(store_url), _LIMITS._replace(max_calls=3, concurrency=2)
    tickets = [spending.reserve("m", 0.0, limits).ticket for _ in range(3)]
    assert [bool(ticket) for ticket in tickets] == [True, True, False]
    assert spending.reserve("another", 0.0, limits).ticket
    assert spending.reserve("m", 0.0, limits).refused == "calls"


def test_pause_of_a_provider_holds_for_all_processes(store_url: str):
    spending = open_spending(store_url)
    spending.pause("m", 60)
    spending.pause("m", 1)  # does not shorten it
    assert spending.reserve("m", 0.0, _LIMITS) == (None, None)
    assert spending.reserve("another", 0.0, _LIMITS).ticket


def open_spending(store_url: str) -> StoredSpending:
    with open_store(store_url, create=True) as database, database.writing():
        remove_spending(database, "run")
    return StoredSpending(store_url, "run")
