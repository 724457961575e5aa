"""Verify that nothing in the store was changed.

Each case has a digest of its body and of all bodies before it; the run has the last of them, and an
id derived from the content. So a changed body, digest or column does not match the others any more
and is reported. The ledger shows what was deleted, added or labelled behind Carob's back.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import msgspec

from carob.schema import Problem, Run
from carob.schema.base import prepare_type
from carob.schema.history import VerifyReport
from carob.schema.problem import ProgressListener, ignore
from carob.store.blobs import BLOB_KINDS, BlobKind, blob_addresses, content_address
from carob.store.database import Database, SqlRow
from carob.store.document import (
    StoredResult,
    StoredScore,
    as_bytes,
    chain_digest,
    column_text,
    decode_result,
    derive_run_id,
    head_digest,
)
from carob.store.ledger_check import LedgerCheck
from carob.store.runs import BATCH, execution_columns

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


def verify(
    database: Database, *, head: str | None = None, progress: ProgressListener = ignore
) -> VerifyReport:
    """Compute every digest again and report mismatches; with `head`, also check that the ledger
    still leads through this digest. `progress` receives the number of runs."""
    check = _StoreCheck(database, LedgerCheck(database, head), progress)
    problems = tuple(check.problems())
    return VerifyReport(
        store=database.where,
        runs=check.counts["runs"],
        executions=check.counts["executions"],
        cases=check.counts["cases"],
        outcomes=check.counts["outcomes"],
        contents=check.counts["contents"],
        entries=check.ledger.entries,
        removed=check.ledger.removed,
        head=check.ledger.head,
        problems=problems,
    )


class _StoreCheck:
    """Checks all tables and counts the rows."""

    def __init__(self, database: Database, ledger: LedgerCheck, progress: ProgressListener) -> None:
        self.counts: Counter[str] = Counter()
        self.ledger = ledger
        self._database = database
        self._progress = progress

    def problems(self) -> Iterator[Problem]:
        damage = [_problem(self._database.where, text) for text in self._database.damage()]
        if damage:  # the rows of a broken file cannot be read
            yield from damage
            return
        runs = "SELECT number, id, cases, digest FROM runs ORDER BY number"
        rows = list(self._database.rows(runs))
        for number, name, cases, digest in rows:
            self._progress(self.counts["runs"], len(rows))
            self.counts["runs"] += 1
            try:
                yield from self._run(number, name, cases, digest)
            except (TypeError, ValueError, AttributeError) as error:
                yield _problem(name, f"invalid rows: {error}")
        yield from self._orphans()
        yield from self.ledger.problems()
        for name in BLOB_KINDS:
            yield from self._contents(name)

    def _run(self, number: int, name: str, cases: int, digest: bytes) -> Iterator[Problem]:
        # The chain continues with the stored digest, not with the computed one: otherwise one
        # changed case would make every case after it look changed.
        bodies: list[bytes] = []
        chain = b""
        for row in self._cases(number, cases):
            yield from self._case(name, chain, *row)
            chain = row[0][4]
            bodies.append(as_bytes(row[0][5]))
        sql = "SELECT COUNT(*) FROM cases WHERE run = ?"
        rows = next(self._database.rows(sql, (number,)))[0]
        if rows != cases:
            yield _problem(name, f"has {rows} cases, expected {cases}")
        elif chain != digest:
            yield _problem(
                name, "its cases do not match its digest: some were changed or reordered"
            )
        for row in list(self._database.rows(_EXECUTIONS, (number,))):
            self.counts["executions"] += 1
            yield from self._execution(name, row, bodies)

    def _cases(self, run: int, cases: int) -> Iterator[tuple[SqlRow, list[SqlRow]]]:
        """Each case with its outcomes."""
        for start in range(0, cases, BATCH):
            values = (run, start, start + BATCH)
            rows = list(self._database.rows(_OUTCOMES, values))
            self.counts["outcomes"] += len(rows)
            outcomes = {place: list(some) for place, some in groupby(rows, key=lambda row: row[0])}
            for row in list(self._database.rows(_CASES, values)):
                self.counts["cases"] += 1
                yield row, outcomes.get(row[0], [])

    def _case(
        self, name: str, chain: bytes, row: SqlRow, outcomes: list[SqlRow]
    ) -> Iterator[Problem]:
        place, case, trace, status, digest, text = row
        body = as_bytes(text)
        where = f"{name} case {case if case is not None else trace!r}"
        if chain_digest(chain, body) != digest:
            yield _problem(where, "its body was changed: it does not match its digest")
        try:
            result = decode_result(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield _problem(where, f"its body is not a result: {error}")
            return
        if (column_text(result.case), column_text(result.trace), result.status) != (
            case,
            trace,
            status,
        ):
            yield _problem(
                where, f"row {place} has {status!r}, its body {_describe_result(result)}"
            )
        yield from _compare_outcomes(where, result, outcomes)

    def _execution(self, name: str, row: SqlRow, bodies: list[bytes]) -> Iterator[Problem]:
        number, *columns, digest, text = row
        head = as_bytes(text)
        where = f"{name} execution {number}"
        if head_digest(head) != digest:
            yield _problem(where, "its summary was changed: it does not match its digest")
        try:
            run = msgspec.json.decode(head, type=prepare_type(Run))
            derived = derive_run_id(head, bodies)
            expected = execution_columns(run, self._database.where)
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError) as error:
            yield _problem(where, f"its head is not a run: {error}")
            return
        if not run.id == derived == name:
            yield _problem(where, f"its content has the id {derived}, expected {name}")
        if tuple(columns) != expected:
            pairs = zip(columns, expected, strict=True)
            changes = ", ".join(f"{now!r} for {then!r}" for now, then in pairs if now != then)
            yield _problem(where, f"the columns do not match the run: {changes}")

    def _orphans(self) -> Iterator[Problem]:
        for name, condition in _ORPHANS.items():
            number = next(self._database.rows(f"SELECT COUNT(*) FROM {condition}"))[0]  # noqa: S608
            if number:
                yield _problem(name, f"{number} orphaned rows")

    def _contents(self, name: BlobKind) -> Iterator[Problem]:
        sql = f"SELECT digest, body FROM {name} WHERE address = ?"  # noqa: S608 - one of three words
        for address in blob_addresses(self._database, name):
            self.counts["contents"] += 1
            digest, packed = next(self._database.rows(sql, (address,)))
            if not _is_intact(name, address, digest, packed):
                yield _problem(f"{name} {address}", "it was changed: it does not match its digest")


def _is_intact(name: BlobKind, address: str, digest: bytes, packed: bytes) -> bool:
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(packed)
    except zlib.error:
        return False
    if not stream.eof or stream.unused_data:
        return False
    own = name != "traces" or address == content_address(body)
    return own and chain_digest(address.encode(), body) == digest


def _compare_outcomes(
    where: str, result: StoredResult, outcomes: list[SqlRow]
) -> Iterator[Problem]:
    if len(outcomes) != len(result.scores):
        yield _problem(where, f"{len(outcomes)} outcomes, its body has {len(result.scores)}")
        return
    for (_, *now), score in zip(outcomes, result.scores, strict=True):
        then = [column_text(score.metric), score.status, score.value, score.threshold]
        if now != then:
            yield _problem(
                where,
                f"outcome of {score.metric!r} is {_describe_change(StoredScore(*now), score)}",
            )


def _describe_change(now: StoredScore, then: StoredScore) -> str:
    fields = ("metric", "status", "value", "threshold")
    differing = [name for name in fields if getattr(now, name) != getattr(then, name)]
    return ", ".join(
        f"{name} {getattr(now, name)!r}, its body says {getattr(then, name)!r}"
        for name in differing
    )


def _describe_result(result: StoredResult) -> str:
    return f"{result.status!r} of case {result.case!r} and trace {result.trace!r}"


def _problem(where: str, message: str) -> Problem:
    return Problem(where=where, message=message, severity="error")
