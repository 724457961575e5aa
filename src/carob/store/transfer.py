"""Export a store to a file and import it: JSON lines, one per execution, blob and review queue.

The line of a run is the document byte for byte, so that nothing is lost; and on import the run id
is derived again from the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import SEEK_END
from pathlib import Path
from typing import Annotated, cast

import msgspec

from carob.errors import InputError
from carob.files.opening import open_input
from carob.schema.base import prepare_type
from carob.schema.history import TransferReport
from carob.schema.problem import ProgressListener, ignore
from carob.schema.review import ReviewLabel
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
from carob.store.review import (
    StoredLabel,
    StoredQueue,
    add_queue,
    all_queues,
    put_label,
    read_labels,
)
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


class _LabelLine(msgspec.Struct):
    """A label of a review queue."""

    place: Annotated[int, msgspec.Meta(ge=0)]
    reviewer: str
    label: ReviewLabel
    note: str
    at: str


class _QueueLine(msgspec.Struct):
    queue: str
    run: str
    metric: str
    items: Annotated[int, msgspec.Meta(ge=0)]
    created_at: str
    labels: tuple[_LabelLine, ...] = ()


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_executions = msgspec.json.Decoder(prepare_type(_RunLine))
_contents = msgspec.json.Decoder(prepare_type(_BlobLine))
_queues = msgspec.json.Decoder(prepare_type(_QueueLine))


def export_lines(database: Database, executions: Iterable[int] | None = None) -> Iterator[bytes]:
    """Export the store, or some executions, oldest first. Blobs come before the executions that use
    them, and review queues after the runs that they are about."""
    runs: set[str] = set()
    if executions is None:
        for name in BLOB_KINDS:
            yield from (
                _content_line(database, name, address) for address in blob_addresses(database, name)
            )
        sql = "SELECT number FROM executions ORDER BY at, number"
        executions = [row[0] for row in database.rows(sql)]
    for number in executions:
        sql = "SELECT r.id FROM executions e JOIN runs r ON r.number = e.run WHERE e.number = ?"
        runs.update(row[0] for row in database.rows(sql, (number,)))
        yield _execution_line(database, number)
    for queue in reversed(all_queues(database)):
        if queue.run in runs:
            yield _queue_line(database, queue)


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


def _queue_line(database: Database, queue: StoredQueue) -> bytes:
    labels = tuple(_LabelLine(**label._asdict()) for label in read_labels(database, queue.id))
    return _encode_line(_QueueLine(*queue, labels))


def _encode_line(line: _RunLine | _BlobLine | _QueueLine) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def import_file(
    database: Database, path: Path, progress: ProgressListener = ignore
) -> TransferReport:
    """Import an exported file, or a run of `carob run -o`. Importing it again changes nothing.
    `progress` receives the bytes that were imported."""
    importer, done, total = _Importer(database), 0, _estimate_size(path)
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
        labels=importer.labels,
    )


def _estimate_size(path: Path) -> int:
    """The number of bytes in a file, unpacked; 0 if nobody knows before reading it.

    A gzip file ends with the size of what it holds, modulo 4 GiB.
    """
    size = path.stat().st_size if path.is_file() else 0
    if path.suffix != ".gz" or not size:
        return size
    with path.open("rb") as file:
        file.seek(-min(4, size), SEEK_END)
        unpacked = int.from_bytes(file.read(), "little")
    return unpacked if unpacked >= size else 0


class _Importer:
    """Counts what is imported."""

    def __init__(self, database: Database) -> None:
        self.executions = self.known = self.contents = self.labels = 0
        self._database = database

    def add(self, text: bytes, where: str) -> None:
        line = _parse_line(text, where)
        if isinstance(line, _BlobLine):
            self._add_content(line, bytes(line.content), where)
        elif isinstance(line, _QueueLine):
            self._add_queue(line)
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

    def _add_queue(self, line: _QueueLine) -> None:
        """Add a queue, and of each person's labels for an answer the newest."""
        stored = {
            (label.place, label.reviewer): label
            for label in read_labels(self._database, line.queue)
        }
        queue = StoredQueue(line.queue, line.run, line.metric, line.items, line.created_at)
        add_queue(self._database, queue)
        for label in line.labels:
            known = stored.get((label.place, label.reviewer))
            if known is None or known.at < label.at:
                put_label(self._database, line.queue, StoredLabel(*msgspec.structs.astuple(label)))
                self.labels += 1

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


def _parse_line(text: bytes, where: str) -> _RunLine | _BlobLine | _QueueLine:
    try:
        fields = _fields.decode(text)
        if "content" in fields:
            return _contents.decode(text)
        if "queue" in fields:
            return _queues.decode(text)
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
