"""A store as a file, and back: JSON lines, one for each execution and one for each content.

A run is in its line byte by byte as it was printed, so that nothing of it is lost on the way; and
the id of a run that comes in is derived again from its numbers.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from carob.errors import InputError
from carob.schema.history import Transfer
from carob.store.database import Database
from carob.store.document import Document, link, of_json
from carob.store.history import labels_of
from carob.store.runs import keep, read
from carob.store.shelf import NAMES, Name, addresses, content_address, get_bytes, put_bytes

_LONGEST = 2**30
"""Bytes of one line; a longer one is no line of ours."""


class _Execution(msgspec.Struct):
    run: msgspec.Raw
    labels: dict[str, str] = {}
    traces: dict[int, str] = {}
    """Which content is the trace of which case, by its place."""


class _Content(msgspec.Struct):
    kind: Name
    address: str
    content: msgspec.Raw


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_executions = msgspec.json.Decoder(_Execution)
_contents = msgspec.json.Decoder(_Content)


def lines(database: Database, executions: Iterable[int] | None = None) -> Iterator[bytes]:
    """The store, or some executions of it, oldest first; each content before who needs it."""
    if executions is None:
        for name in NAMES:
            yield from (_content(database, name, one) for one in addresses(database, name))
        sql = "SELECT number FROM executions ORDER BY at, number"
        executions = [row[0] for row in database.rows(sql)]
    for number in executions:
        yield _execution(database, number)


def _content(database: Database, name: Name, address: str) -> bytes:
    body = get_bytes(database, name, address) or b"null"
    return _encoded(_Content(kind=name, address=address, content=msgspec.Raw(body)))


def _execution(database: Database, number: int) -> bytes:
    sql = (
        "SELECT t.place, t.address FROM case_traces t JOIN executions e ON e.run = t.run"
        " WHERE e.number = ? ORDER BY t.place"
    )
    traces = dict(cast("Iterator[tuple[int, str]]", database.rows(sql, (number,))))
    labels = labels_of(database, [number]).get(number, {})
    run = msgspec.Raw(read(database, number))
    return _encoded(_Execution(run=run, labels=labels, traces=traces))


def _encoded(line: _Execution | _Content) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def take(database: Database, path: Path) -> Transfer:
    """Take in a file that was exported, or a run that `carob run -o` wrote; twice is as good as
    once."""
    taken = _Taken(database)
    for number, text in enumerate(_texts(path), 1):
        taken.add(text, f"{path} line {number}")
    return Transfer(
        store=database.where,
        executions=taken.executions,
        known=taken.known,
        contents=taken.contents,
    )


class _Taken:
    def __init__(self, database: Database) -> None:
        self.executions = self.known = self.contents = 0
        self._database = database

    def add(self, text: bytes, where: str) -> None:
        line = _line(text, where)
        if isinstance(line, _Content):
            self._add_content(line, bytes(line.content), where)
        else:
            self._add_run(of_json(bytes(line.run), where), line)

    def _add_content(self, line: _Content, body: bytes, where: str) -> None:
        if line.kind == "traces" and line.address != content_address(body):
            message = f"the trace is that of {content_address(body)}, not of {line.address!r}"
            raise InputError(message, where=where, hint="take the file as Carob wrote it")
        with self._database.writing():
            self.contents += put_bytes(self._database, line.kind, line.address, body)

    def _add_run(self, document: Document, line: _Execution) -> None:
        if _is_known(self._database, document, line.labels):
            self.known += 1
            return
        execution = keep(self._database, document, line.labels)
        _link(self._database, execution, line.traces)
        self.executions += 1


def _is_known(database: Database, document: Document, labels: Mapping[str, str]) -> bool:
    """Has it been taken in before? The same numbers at the same time under the same labels."""
    sql = (
        "SELECT e.number FROM executions e JOIN runs r ON r.number = e.run"
        " WHERE r.id = ? AND e.digest = ?"
    )
    values = (document.run.id, link(b"", document.head))
    found = [row[0] for row in database.rows(sql, values)]
    known = labels_of(database, found)
    return any(known.get(number, {}) == labels for number in found)


def _link(database: Database, execution: int, traces: Mapping[int, str]) -> None:
    sql = (
        "INSERT INTO case_traces (run, place, address)"
        " SELECT run, ?, ? FROM executions WHERE number = ? ON CONFLICT (run, place) DO NOTHING"
    )
    with database.writing():
        for place, address in traces.items():
            database.execute(sql, (place, address, execution))


def _line(text: bytes, where: str) -> _Execution | _Content:
    try:
        fields = _fields.decode(text)
        if "content" in fields:
            return _contents.decode(text)
        return _executions.decode(text) if "run" in fields else _Execution(msgspec.Raw(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"nothing of a store: {error}", where=where) from error


def _texts(path: Path) -> Iterator[bytes]:
    """The lines of a file, or all of it if it is one document."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with cast("BinaryIO", gzip.open(path) if packed else path.open("rb")) as file:
            if file.readline(_LONGEST).strip() == b"{":  # a run as it was printed, over many lines
                file.seek(0)
                yield file.read(_LONGEST)
                return
            file.seek(0)
            yield from (line for line in file if line.strip())
    except (OSError, EOFError, zlib.error) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(message, where=str(path)) from error
