"""Limits on the calls and the cost of judges that several processes share through the store."""

from __future__ import annotations

import time
from math import ceil
from secrets import token_hex

from carob.schema.judge import CallLimits, CallPermit
from carob.store.database import Database
from carob.store.document import column_text
from carob.store.url import open_store

_BILLIONTH = 10**9
_WAIT, _NO_COST, _NO_CALLS = CallPermit(), CallPermit(refused="cost"), CallPermit(refused="calls")


class StoredSpending:
    """The spending of one run in progress. Every call opens the store, because the event loop that
    asks may run in any thread, and waiting for a model takes far longer."""

    def __init__(self, url: str, run: str) -> None:
        self._url, self._run = url, run

    def reserve(self, model: str, amount: float, limits: CallLimits) -> CallPermit:
        """Reserve the largest possible cost of a call, or say why not."""
        now = _now()
        with open_store(self._url) as database, database.writing():
            calls, cost = self._lock(database)
            reserved, running, running_here = self._reserved(database, model, now)
            if limits.max_calls is not None and calls >= limits.max_calls:
                return _NO_CALLS
            if limits.max_cost is not None:
                # Rounded up and down, so that fractions cannot add up to more than the limit.
                most = int(limits.max_cost * _BILLIONTH)
                if cost + reserved + _billionths(amount) > most:
                    # Calls that are running may turn out cheaper, so wait for them first.
                    return _WAIT if running else _NO_COST
            if running_here >= limits.concurrency or self._pause(database, model) > now:
                return _WAIT
            ticket, until = token_hex(16), now + int(limits.seconds * 1e6)
            database.execute(
                "INSERT INTO judge_reservations (id, run, model, amount, until)"
                " VALUES (?, ?, ?, ?, ?)",
                (ticket, self._run, column_text(model), _billionths(amount), until),
            )
            database.execute(
                "UPDATE judge_spending SET calls = calls + 1 WHERE run = ?", (self._run,)
            )
            return CallPermit(ticket=ticket)

    def settle(self, ticket: str, cost: float) -> None:
        """Replace a reservation by the actual cost of the call."""
        with open_store(self._url) as database, database.writing():
            self._lock(database)
            if database.execute("DELETE FROM judge_reservations WHERE id = ?", (ticket,)):
                database.execute(
                    "UPDATE judge_spending SET cost = cost + ? WHERE run = ?",
                    (_billionths(cost), self._run),
                )

    def pause(self, model: str, seconds: float) -> None:
        """Let no process call a model for some time."""
        until = _now() + int(seconds * 1e6)
        with open_store(self._url) as database, database.writing():
            self._lock(database)
            latest = max(until, self._pause(database, model))
            database.execute(
                "INSERT INTO judge_pauses (run, model, until) VALUES (?, ?, ?)"
                " ON CONFLICT (run, model) DO UPDATE SET until = excluded.until",
                (self._run, column_text(model), latest),
            )

    def _lock(self, database: Database) -> tuple[int, int]:
        """Return calls and cost so far. No other process changes them until the transaction ends:
        SQLite has one writer, and PostgreSQL locks the row that is updated."""
        database.execute(
            "INSERT INTO judge_spending (run, calls, cost) VALUES (?, 0, 0)"
            " ON CONFLICT (run) DO NOTHING",
            (self._run,),
        )
        database.execute("UPDATE judge_spending SET calls = calls WHERE run = ?", (self._run,))
        sql = "SELECT calls, cost FROM judge_spending WHERE run = ?"
        calls, cost = next(database.rows(sql, (self._run,)))
        return calls, cost

    def _reserved(self, database: Database, model: str, now: int) -> tuple[int, int, int]:
        """Return the reserved amount, how many calls are running, and how many of the model. A
        call whose time is over was made by a process that is gone: it may have been billed, but
        nobody settles it."""
        sql = "SELECT model, amount, until FROM judge_reservations WHERE run = ?"
        rows = list(database.rows(sql, (self._run,)))
        running = [name for name, _, until in rows if until > now]
        return sum(row[1] for row in rows), len(running), running.count(column_text(model))

    def _pause(self, database: Database, model: str) -> int:
        sql = "SELECT until FROM judge_pauses WHERE run = ? AND model = ?"
        return next((row[0] for row in database.rows(sql, (self._run, column_text(model)))), 0)


def remove_spending(database: Database, run: str) -> None:
    """Forget what a run in progress spent, within a transaction."""
    for table in ("judge_spending", "judge_reservations", "judge_pauses"):
        database.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - own names


def _billionths(dollars: float) -> int:
    return ceil(dollars * _BILLIONTH)


def _now() -> int:
    return time.time_ns() // 1000
