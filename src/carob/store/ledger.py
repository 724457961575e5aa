"""The ledger: a chain of entries that says what the store must hold.

Digests of the rows alone cannot show that a row is gone. So whatever saves, labels or removes
executions also appends an entry, whose digest covers the entry before it. The last digest is the
head of the store: whoever noted it elsewhere can tell later whether the chain still leads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import msgspec

from carob.schema.base import Struct, prepare_type
from carob.schema.run import RunDataset
from carob.store.database import Database
from carob.store.document import as_bytes, chain_digest

Facet: TypeAlias = tuple[str, str]
"""What an execution is found by: a kind and a value."""
_PAGE = 1_000


class Saved(Struct, frozen=True, tag="saved", tag_field="kind"):
    """An execution was saved."""

    execution: int
    run: str
    digest: str
    """Of the execution's head; the run id covers the results."""
    facets: tuple[Facet, ...] = ()
    dataset: RunDataset | None = None


class Labelled(Struct, frozen=True, tag="labelled", tag_field="kind"):
    """An execution got these labels in place of those that it had."""

    execution: int
    labels: tuple[str, ...]


class Traced(Struct, frozen=True, tag="traced", tag_field="kind"):
    """The traces of a run were saved."""

    run: str
    digest: str
    """Of all links from the run's cases to traces."""


class Removed(Struct, frozen=True, tag="removed", tag_field="kind"):
    """Executions were removed by pruning."""

    executions: tuple[int, ...]


Entry: TypeAlias = Saved | Labelled | Traced | Removed


class LedgerRow(NamedTuple):
    """An entry as stored."""

    number: int
    digest: bytes
    entry: bytes


def append_entry(database: Database, entry: Entry) -> None:
    """Append an entry, within the transaction that does what the entry says."""
    # Two writers must not chain to the same entry. The lock comes last in every transaction, so
    # that writers only wait for each other while they commit.
    database.lock_table("ledger")
    last = _last_row(database)
    data = msgspec.json.encode(entry)
    number, before = (last.number + 1, last.digest) if last else (1, b"")
    row = (number, chain_digest(before, data), data)
    database.load("ledger", LedgerRow._fields, [row])


def ledger_head(database: Database) -> str | None:
    """The digest of the last entry; `None` if there is none."""
    last = _last_row(database)
    return last.digest.hex() if last else None


def ledger_rows(database: Database) -> Iterator[LedgerRow]:
    """All entries in order, read in pages to bound memory."""
    sql = f"SELECT number, digest, entry FROM ledger WHERE number > ? ORDER BY number LIMIT {_PAGE}"  # noqa: S608
    last = 0
    while page := [_ledger_row(*row) for row in database.rows(sql, (last,))]:
        yield from page
        last = page[-1].number


def decode_entry(row: LedgerRow) -> Entry:
    """Decode an entry. Raises `msgspec.MsgspecError` if it is none."""
    return _decoder().decode(row.entry)


@cache
def _decoder() -> msgspec.json.Decoder[Entry]:
    for kind in (Saved, Labelled, Traced, Removed):
        prepare_type(kind)
    return msgspec.json.Decoder(Entry)


def save_entry(
    execution: int, run: str, digest: bytes, facets: Iterable[Facet], dataset: RunDataset | None
) -> Saved:
    """The entry of a saved execution."""
    ordered = tuple(sorted(set(facets)))
    return Saved(execution=execution, run=run, digest=digest.hex(), facets=ordered, dataset=dataset)


def append_traces(database: Database, execution: int) -> None:
    """Append an entry after the traces of an execution's run were saved."""
    sql = "SELECT r.number, r.id FROM runs r JOIN executions e ON e.run = r.number"
    number, run = next(database.rows(f"{sql} WHERE e.number = ?", (execution,)))
    append_entry(database, Traced(run=run, digest=trace_links_digest(database, number)))


def trace_links_digest(database: Database, run: int) -> str:
    """A digest of the links from the cases of a run to their traces."""
    sql = "SELECT place, address FROM case_traces WHERE run = ? ORDER BY place"
    digest = b""
    for place, address in database.rows(sql, (run,)):
        digest = chain_digest(digest, f"{place} {address}".encode())
    return digest.hex()


def adopt_executions(database: Database) -> None:
    """Append an entry for everything in a store that was created without a ledger."""
    sql = (
        "SELECT e.number, r.id, e.digest, e.head FROM executions e JOIN runs r ON r.number = e.run"
        " ORDER BY e.number"
    )
    for number, run, digest, head in list(database.rows(sql)):
        dataset = msgspec.json.decode(as_bytes(head), type=prepare_type(_Head)).dataset
        facets = stored_facets(database, number)
        append_entry(database, save_entry(number, run, digest, facets, dataset))
    linked = "SELECT number, id FROM runs WHERE number IN (SELECT run FROM case_traces)"
    for number, run in list(database.rows(f"{linked} ORDER BY number")):
        append_entry(database, Traced(run=run, digest=trace_links_digest(database, number)))


def stored_facets(database: Database, execution: int) -> Sequence[Facet]:
    """The facets of an execution in the store."""
    sql = "SELECT kind, value FROM facets WHERE execution = ?"
    return [(kind, value) for kind, value in database.rows(sql, (execution,))]


class _Head(Struct, frozen=True):
    dataset: RunDataset | None = None


def _last_row(database: Database) -> LedgerRow | None:
    sql = "SELECT number, digest, entry FROM ledger ORDER BY number DESC LIMIT 1"
    row = next(database.rows(sql), None)
    return _ledger_row(*row) if row else None


def _ledger_row(number: int, digest: bytes, entry: bytes | str) -> LedgerRow:
    return LedgerRow(number, bytes(digest), as_bytes(entry))
