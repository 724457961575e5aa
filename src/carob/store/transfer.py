"""Export a store to a file and import it: JSON lines, one per execution and one per blob.

The line of a run is the document byte for byte, so that nothing is lost; and on import the run id
is derived again from the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from carob.errors import InputError
from carob.files.opening import open_input
from carob.schema.base import prepare_type
from carob.schema.history import TransferReport
from carob.schema.problem import ProgressListener, ignore
from carob.store.blobs import (
    BLOB_KINDS,
    BlobKind,
    blob_addresses,
    content_address,
    get_blob,
    put_blob,
)
from carob.store.database import Database
from carob.store.document import RunDocument, head_digest, parse_document
from carob.store.history import labels_of
from carob.store.ledger import append_traces
from carob.store.runs import read_run, save_execution

_LONGEST = 2**30
"""The maximum number of bytes of one line."""


class _RunLine(msgspec.Struct):
    run: msgspec.Raw
    labels: dict[str, str] = {}
    traces: dict[int, str] = {}
    """The addresses of traces, by the position of their case."""


class _BlobLine(msgspec.Struct):
    kind: BlobKind
    address: str
    content: msgspec.Raw


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_executions = msgspec.json.Decoder(prepare_type(_RunLine))
_contents = msgspec.json.Decoder(prepare_type(_BlobLine))


def export_lines(database: Database, executions: Iterable[int] | None = None) -> Iterator[bytes]:
    """Export the store, or some executions, oldest first. Blobs come before the executions that use
    them."""
    if executions is None:
        for name in BLOB_KINDS:
            yield from (
                _content_line(database, name, address) for address in blob_addresses(database, name)
            )
        sql = "SELECT number FROM executions ORDER BY at, number"
        executions = [row[0] for row in database.rows(sql)]
    for number in executions:
        yield _execution_line(database, number)


def count_executions(database: Database) -> int:
    """Return the number of executions that a whole export has."""
    return int(next(database.rows("SELECT count(*) FROM executions"))[0])


def _content_line(database: Database, name: BlobKind, address: str) -> bytes:
    body = get_blob(database, name, address) or b"null"
    return _encode_line(_BlobLine(kind=name, address=address, content=msgspec.Raw(body)))


def _execution_line(database: Database, number: int) -> bytes:
    sql = (
        "SELECT t.place, t.address FROM case_traces t JOIN executions e ON e.run = t.run"
        " WHERE e.number = ? ORDER BY t.place"
    )
    traces = dict(cast("Iterator[tuple[int, str]]", database.rows(sql, (number,))))
    labels = labels_of(database, [number]).get(number, {})
    run = msgspec.Raw(read_run(database, number))
    return _encode_line(_RunLine(run=run, labels=labels, traces=traces))


def _encode_line(line: _RunLine | _BlobLine) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def import_file(
    database: Database, path: Path, progress: ProgressListener = ignore
) -> TransferReport:
    """Import an exported file, or a run of `carob run -o`. Importing it again changes nothing.
    `progress` receives the bytes that were imported, unless the file is compressed: nobody knows
    how many there are."""
    importer, done = _Importer(database), 0
    total = path.stat().st_size if path.is_file() and path.suffix != ".gz" else 0
    for number, text in enumerate(_read_lines(path), 1):
        importer.add(text, f"{path} line {number}")
        done += len(text)
        if total:
            progress(min(done, total), total)
    return TransferReport(
        store=database.where,
        executions=importer.executions,
        known=importer.known,
        contents=importer.contents,
    )


class _Importer:
    """Counts what is imported."""

    def __init__(self, database: Database) -> None:
        self.executions = self.known = self.contents = 0
        self._database = database

    def add(self, text: bytes, where: str) -> None:
        line = _parse_line(text, where)
        if isinstance(line, _BlobLine):
            self._add_content(line, bytes(line.content), where)
        else:
            self._add_run(parse_document(bytes(line.run), where), line)

    def _add_content(self, line: _BlobLine, body: bytes, where: str) -> None:
        if line.kind == "traces" and line.address != content_address(body):
            message = f"the trace has the address {content_address(body)}, not {line.address!r}"
            raise InputError(
                message, where=where, hint="the file was edited; use it as Carob wrote it"
            )
        with self._database.writing():
            self.contents += put_blob(self._database, line.kind, line.address, body)

    def _add_run(self, document: RunDocument, line: _RunLine) -> None:
        if _is_known(self._database, document, line.labels):
            self.known += 1
            return
        execution = save_execution(self._database, document, line.labels)
        _link_traces(self._database, execution, line.traces)
        self.executions += 1


def _is_known(database: Database, document: RunDocument, labels: Mapping[str, str]) -> bool:
    """Whether the execution exists: same results, same time, same labels."""
    sql = (
        "SELECT e.number FROM executions e JOIN runs r ON r.number = e.run"
        " WHERE r.id = ? AND e.digest = ?"
    )
    values = (document.run.id, head_digest(document.head))
    numbers = [row[0] for row in database.rows(sql, values)]
    stored_labels = labels_of(database, numbers)
    return any(stored_labels.get(number, {}) == labels for number in numbers)


def _link_traces(database: Database, execution: int, traces: Mapping[int, str]) -> None:
    sql = (
        "INSERT INTO case_traces (run, place, address)"
        " SELECT run, ?, ? FROM executions WHERE number = ? ON CONFLICT (run, place) DO NOTHING"
    )
    with database.writing():
        values = [(place, address, execution) for place, address in traces.items()]
        if sum([database.execute(sql, row) for row in values]):
            append_traces(database, execution)


def _parse_line(text: bytes, where: str) -> _RunLine | _BlobLine:
    try:
        fields = _fields.decode(text)
        if "content" in fields:
            return _contents.decode(text)
        return _executions.decode(text) if "run" in fields else _RunLine(msgspec.Raw(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not part of a store export: {error}", where=where) from error


def _read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, or the whole file if it is a single document."""
    if path.is_file() and not path.stat().st_size:  # the export of an empty store
        return
    with open_input(path) as file:
        if file.stream.readline(_LONGEST).strip() == b"{":  # an indented run
            file.rewind()
            yield file.stream.read(_LONGEST)
            return
        file.rewind()
        yield from (line for line in file.stream if line.strip())
