"""Compressed blobs by address: traces, judges' answers, calibrations. They have separate tables,
so that listing the history does not read them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from typing import Generic, Literal, TypeVar

import msgspec

from carob.errors import InputError
from carob.files.digest_table import DigestTable, text_digest
from carob.schema import Trace
from carob.schema.base import prepare_type
from carob.store.database import Database
from carob.store.document import chain_digest
from carob.store.ledger import append_traces

T = TypeVar("T")
BlobKind = Literal["traces", "judge_cache", "calibration"]
BLOB_KINDS: tuple[BlobKind, ...] = ("traces", "judge_cache", "calibration")
_LEVEL = 1


class BlobTable(Generic[T]):
    """Blobs of one type. The content of an address never changes: a second put is ignored."""

    def __init__(self, database: Database, name: BlobKind, kind: type[T]) -> None:
        self._database = database
        self._name: BlobKind = name
        self._decoder = msgspec.json.Decoder(prepare_type(kind))

    def get(self, address: str) -> T | None:
        """The value at an address, if any."""
        body = get_blob(self._database, self._name, address)
        try:
            return None if body is None else self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damage_error(self._database, self._name, address) from error

    def put(self, address: str, value: T) -> None:
        """Store a value. When this returns, it is on disk."""
        self.put_all({address: value})

    def put_all(self, contents: Mapping[str, T]) -> None:
        """Store several values in one transaction."""
        with self._database.writing():
            for address, value in contents.items():
                put_blob(self._database, self._name, address, msgspec.json.encode(value))


def get_blob(database: Database, name: BlobKind, address: str) -> bytes | None:
    """The JSON at an address, if any."""
    sql = f"SELECT body FROM {name} WHERE address = ?"  # noqa: S608 - one of three words
    row = next(database.rows(sql, (address,)), None)
    try:
        return None if row is None else zlib.decompress(row[0])
    except zlib.error as error:
        raise _damage_error(database, name, address) from error


def put_blob(database: Database, name: BlobKind, address: str, body: bytes) -> bool:
    """Store JSON within a transaction, and return whether the address was new."""
    sql = (
        f"INSERT INTO {name} (address, digest, body) VALUES (?, ?, ?)"  # noqa: S608 - see above
        " ON CONFLICT (address) DO NOTHING"
    )
    # The address is part of the digest, so that two bodies cannot be swapped unnoticed.
    digest = chain_digest(address.encode(), body)
    return database.execute(sql, (address, digest, zlib.compress(body, _LEVEL))) == 1


def trace_blob(trace: Trace) -> tuple[str, bytes]:
    """The address and JSON of a trace."""
    body = msgspec.json.encode(trace, order="deterministic")
    return content_address(body), body


def content_address(body: bytes) -> str:
    """The address of content that is stored by its hash."""
    return f"sha256:{sha256(body).hexdigest()}"


def blob_addresses(database: Database, name: BlobKind) -> Iterator[str]:
    """All addresses in order, read in pages to bound memory."""
    sql = f"SELECT address FROM {name} WHERE address > ? ORDER BY address LIMIT 1000"  # noqa: S608
    # Each page continues after the last address of the previous one. OFFSET would read all earlier
    # rows again, and an open cursor would see or miss rows that the caller writes meanwhile.
    last = ""
    while page := [row[0] for row in database.rows(sql, (last,))]:
        yield from page
        last = page[-1]


def _damage_error(database: Database, name: BlobKind, address: str) -> InputError:
    hint = "run `carob store verify`"
    return InputError(f"{name} {address} is damaged", where=database.where, hint=hint)


_CASES_WITH_TRACE = "SELECT place, trace_id FROM cases WHERE run = ? AND trace_id IS NOT NULL"
_HAS_TRACE = "SELECT 1 FROM cases WHERE run = ? AND place = ? AND trace_id = ?"
_LINK_TRACE = (
    "INSERT INTO case_traces (run, place, address) VALUES (?, ?, ?)"
    " ON CONFLICT (run, place) DO NOTHING"
)


def save_traces(database: Database, execution: int, traces: Iterable[Trace]) -> int:
    """Store the traces that cases of an execution were scored by, and return their number."""
    left = iter(traces)
    first = next(left, None)
    if first is None:  # as in most runs, whose cases need not be looked at
        return 0
    sql = "SELECT run FROM executions WHERE number = ?"
    run = next(database.rows(sql, (execution,)))[0]
    # Digests, because the ids of a million traces would take 200 MB.
    rows = database.rows(_CASES_WITH_TRACE, (run,))
    digests = DigestTable((text_digest(id), place) for place, id in rows)
    stored = linked = 0
    with database.writing():
        for trace in chain([first], left):
            places = [
                place
                for place in digests.find(text_digest(trace.id))
                if any(database.rows(_HAS_TRACE, (run, place, trace.id)))
            ]
            if not places:
                continue
            address, body = trace_blob(trace)
            put_blob(database, "traces", address, body)
            for place in places:
                linked += database.execute(_LINK_TRACE, (run, place, address))
            stored += 1
        if linked:
            append_traces(database, execution)
    return stored
