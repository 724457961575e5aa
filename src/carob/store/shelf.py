"""What is known by its content address: traces, judges' answers, calibrations. Compressed, and in
tables of their own, so that the history does not wade through them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Generic, Literal, TypeVar

import msgspec

from carob.errors import InputError
from carob.schema import Trace
from carob.store.database import Database
from carob.store.document import link

T = TypeVar("T")
Name = Literal["traces", "judge_cache", "calibration"]
NAMES: tuple[Name, ...] = ("traces", "judge_cache", "calibration")
_LEVEL = 1


class Shelf(Generic[T]):
    """Contents of one type. What an address stands for does not change: the first put counts."""

    def __init__(self, database: Database, name: Name, kind: type[T]) -> None:
        self._database = database
        self._name: Name = name
        self._decoder = msgspec.json.Decoder(kind)

    def get(self, address: str) -> T | None:
        """What is kept under an address."""
        body = get_bytes(self._database, self._name, address)
        try:
            return None if body is None else self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damaged(self._database, self._name, address) from error

    def put(self, address: str, value: T) -> None:
        """Keep something under its address. When this returns, it is on disk."""
        self.put_all({address: value})

    def put_all(self, contents: Mapping[str, T]) -> None:
        """The same for several things, in one transaction."""
        with self._database.writing():
            for address, value in contents.items():
                put_bytes(self._database, self._name, address, msgspec.json.encode(value))


def get_bytes(database: Database, name: Name, address: str) -> bytes | None:
    """The JSON that is kept under an address."""
    sql = f"SELECT body FROM {name} WHERE address = ?"  # noqa: S608 - one of three words
    found = next(database.rows(sql, (address,)), None)
    try:
        return None if found is None else zlib.decompress(found[0])
    except zlib.error as error:
        raise _damaged(database, name, address) from error


def put_bytes(database: Database, name: Name, address: str, body: bytes) -> bool:
    """Keep JSON under an address, within a transaction; was it new?"""
    sql = (
        f"INSERT INTO {name} (address, digest, body) VALUES (?, ?, ?)"  # noqa: S608 - see above
        " ON CONFLICT (address) DO NOTHING"
    )
    digest = link(address.encode(), body)
    return database.execute(sql, (address, digest, zlib.compress(body, _LEVEL))) == 1


def trace_json(trace: Trace) -> tuple[str, bytes]:
    """The address of a trace, and what is kept under it."""
    body = msgspec.json.encode(trace, order="deterministic")
    return content_address(body), body


def content_address(body: bytes) -> str:
    """The address that follows from the content itself."""
    return f"sha256:{sha256(body).hexdigest()}"


def addresses(database: Database, name: Name) -> Iterator[str]:
    """All addresses, in order, a few at a time."""
    sql = f"SELECT address FROM {name} WHERE address > ? ORDER BY address LIMIT 1000"  # noqa: S608
    last = ""
    while found := [row[0] for row in database.rows(sql, (last,))]:
        yield from found
        last = found[-1]


def _damaged(database: Database, name: Name, address: str) -> InputError:
    hint = "see `carob store verify`"
    return InputError(f"{name} {address} is damaged", where=database.where, hint=hint)
