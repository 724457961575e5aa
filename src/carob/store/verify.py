"""Is every number in the store the one that was put there?

Each case has a digest of its body and of all bodies before it; the run has the last of them, and
an id that follows from the numbers. A body, a digest or a column that was changed does not fit the
others any more, and is named.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import msgspec

from carob.schema import Problem, Run
from carob.schema.history import Verification
from carob.store.database import Database, Row
from carob.store.document import Numbers, Parts, exact, head_id, link, parts
from carob.store.runs import BATCH, column, execution_columns
from carob.store.shelf import NAMES, Name, addresses, content_address

_OUTCOMES = (
    "SELECT place, metric, status, value, threshold FROM outcomes"
    " WHERE run = ? AND place >= ? AND place < ? ORDER BY place, part"
)
_CASES = (
    "SELECT place, case_id, trace_id, status, digest, body FROM cases"
    " WHERE run = ? AND place >= ? AND place < ? ORDER BY place"
)
_EXECUTIONS = (
    "SELECT number, at, created_at, verdict, dataset, version, total, passed, failed, unscored,"
    " errors, means, digest, head FROM executions WHERE run = ? ORDER BY number"
)
_ORPHANS = {
    "cases": "cases c WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.number = c.run)",
    "outcomes": "outcomes o WHERE NOT EXISTS (SELECT 1 FROM cases c"
    " WHERE c.run = o.run AND c.place = o.place)",
    "executions": "executions e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.number = e.run)",
}


def verify(database: Database) -> Verification:
    """Derive every digest again and name what does not fit."""
    check = _Check(database)
    problems = tuple(check.problems())
    return Verification(
        store=database.where,
        runs=check.counts["runs"],
        executions=check.counts["executions"],
        cases=check.counts["cases"],
        outcomes=check.counts["outcomes"],
        contents=check.counts["contents"],
        problems=problems,
    )


class _Check:
    def __init__(self, database: Database) -> None:
        self.counts: Counter[str] = Counter()
        self._database = database

    def problems(self) -> Iterator[Problem]:
        damage = [_problem(self._database.where, text) for text in self._database.damage()]
        if damage:  # a file that is broken gives no rows to go through
            yield from damage
            return
        runs = "SELECT number, id, cases, digest FROM runs ORDER BY number"
        for number, name, cases, digest in list(self._database.rows(runs)):
            self.counts["runs"] += 1
            try:
                yield from self._run(number, name, cases, digest)
            except (TypeError, ValueError, AttributeError) as error:
                yield _problem(name, f"its rows do not hold what they should: {error}")
        yield from self._orphans()
        for name in NAMES:
            yield from self._contents(name)

    def _run(self, number: int, name: str, cases: int, digest: bytes) -> Iterator[Problem]:
        bodies: list[bytes] = []
        chain = b""
        for row in self._cases(number, cases):
            yield from self._case(name, chain, *row)
            chain = row[0][4]
            bodies.append(exact(row[0][5]))
        sql = "SELECT COUNT(*) FROM cases WHERE run = ?"
        rows = next(self._database.rows(sql, (number,)))[0]
        if rows != cases:
            yield _problem(name, f"has {rows} cases, it had {cases}")
        elif chain != digest:
            yield _problem(name, "its cases do not give its digest: some were changed or exchanged")
        for row in list(self._database.rows(_EXECUTIONS, (number,))):
            self.counts["executions"] += 1
            yield from self._execution(name, row, bodies)

    def _cases(self, run: int, cases: int) -> Iterator[tuple[Row, list[Row]]]:
        """Each case with its outcomes."""
        for start in range(0, cases, BATCH):
            values = (run, start, start + BATCH)
            rows = list(self._database.rows(_OUTCOMES, values))
            self.counts["outcomes"] += len(rows)
            outcomes = {place: list(some) for place, some in groupby(rows, key=lambda row: row[0])}
            for row in list(self._database.rows(_CASES, values)):
                self.counts["cases"] += 1
                yield row, outcomes.get(row[0], [])

    def _case(self, name: str, chain: bytes, row: Row, outcomes: list[Row]) -> Iterator[Problem]:
        place, case, trace, status, digest, text = row
        body = exact(text)
        where = f"{name} case {case if case is not None else trace!r}"
        if link(chain, body) != digest:
            yield _problem(where, "its body was changed: it does not give its digest")
        try:
            found = parts(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield _problem(where, f"its body is no result: {error}")
            return
        if (column(found.case), column(found.trace), found.status) != (case, trace, status):
            yield _problem(where, f"row {place} says {status!r}, its body {_about(found)}")
        yield from _differing(where, found, outcomes)

    def _execution(self, name: str, row: Row, bodies: list[bytes]) -> Iterator[Problem]:
        number, *columns, digest, text = row
        head = exact(text)
        where = f"{name} execution {number}"
        if link(b"", head) != digest:
            yield _problem(where, "its summary was changed: it does not give its digest")
        try:
            run = msgspec.json.decode(head, type=Run)
            derived = head_id(head, bodies)
            expected = execution_columns(run, self._database.where)
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError) as error:
            yield _problem(where, f"its head is no run: {error}")
            return
        if not run.id == derived == name:
            yield _problem(where, f"its numbers are those of {derived}, not of {name}")
        if tuple(columns) != expected:
            pairs = zip(columns, expected, strict=True)
            told = ", ".join(f"{now!r} for {then!r}" for now, then in pairs if now != then)
            yield _problem(where, f"the history does not say what the run says: {told}")

    def _orphans(self) -> Iterator[Problem]:
        for name, condition in _ORPHANS.items():
            number = next(self._database.rows(f"SELECT COUNT(*) FROM {condition}"))[0]  # noqa: S608
            if number:
                yield _problem(name, f"{number} rows belong to nothing")

    def _contents(self, name: Name) -> Iterator[Problem]:
        sql = f"SELECT digest, body FROM {name} WHERE address = ?"  # noqa: S608 - one of three words
        for address in addresses(self._database, name):
            self.counts["contents"] += 1
            digest, packed = next(self._database.rows(sql, (address,)))
            if not _intact(name, address, digest, packed):
                yield _problem(f"{name} {address}", "it was changed: it does not give its digest")


def _intact(name: Name, address: str, digest: bytes, packed: bytes) -> bool:
    try:
        body = zlib.decompress(packed)
    except zlib.error:
        return False
    own = name != "traces" or address == content_address(body)
    return own and link(address.encode(), body) == digest


def _differing(where: str, found: Parts, outcomes: list[Row]) -> Iterator[Problem]:
    if len(outcomes) != len(found.scores):
        yield _problem(where, f"{len(outcomes)} outcomes, its body has {len(found.scores)}")
        return
    for (_, *now), score in zip(outcomes, found.scores, strict=True):
        then = [column(score.metric), score.status, score.value, score.threshold]
        if now != then:
            yield _problem(where, f"outcome of {score.metric!r} is {_told(Numbers(*now), score)}")


def _told(now: Numbers, then: Numbers) -> str:
    fields = ("metric", "status", "value", "threshold")
    differing = [name for name in fields if getattr(now, name) != getattr(then, name)]
    return ", ".join(
        f"{name} {getattr(now, name)!r}, its body says {getattr(then, name)!r}"
        for name in differing
    )


def _about(found: Parts) -> str:
    return f"{found.status!r} of case {found.case!r} and trace {found.trace!r}"


def _problem(where: str, message: str) -> Problem:
    return Problem(where=where, message=message, severity="error")
