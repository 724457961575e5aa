from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from carob.errors import InputError
from carob.schema import Run, Trace
from carob.store import Database, open_store
from carob.store.blobs import BlobTable, save_traces
from carob.store.document import split_run
from carob.store.history import find_execution
from carob.store.review import (
    StoredLabel,
    StoredQueue,
    add_queue,
    all_queues,
    put_label,
    read_labels,
)
from carob.store.runs import read_run, save_execution
from carob.store.transfer import export_lines, import_file
from carob.store.verify import verify
from tests.store.stored import find_trace

MakeRun = Callable[..., Run]


def fill(database: Database, make_run: MakeRun) -> None:
    for day in (2, 1):
        run = make_run(0.1 * day, None, created_at=f"2026-03-0{day}T12:00:00Z", tags=("refund",))
        execution = save_execution(database, split_run(run), {"branch": f"b{day}"})
    save_execution(database, split_run(run), {"branch": "again"})
    save_traces(database, execution, [Trace(id="trace_1", source="a.json")])
    BlobTable(database, "calibration", dict[str, float]).put("judge:a", {"kappa": 0.8})


def test_exported_store_can_be_imported(database: Database, make_run: MakeRun, tmp_path: Path):
    fill(database, make_run)
    exported = b"".join(export_lines(database))
    (tmp_path / "all.jsonl").write_bytes(exported)
    with open_store(str(tmp_path / "other.db"), create=True) as copy:
        counts = import_file(copy, tmp_path / "all.jsonl")
        assert (counts.executions, counts.known, counts.contents) == (3, 0, 2)
        assert b"".join(export_lines(copy)) == exported
        assert find_trace(copy, find_execution(copy, "branch:again"), 1) == Trace(
            id="trace_1", source="a.json"
        )
        assert verify(copy).problems == ()


def test_queues_and_labels_are_exported_with_their_runs(
    database: Database, make_run: MakeRun, tmp_path: Path
):
    fill(database, make_run)
    run = find_run_id(database, "branch:b1")
    add_queue(database, StoredQueue("q-1", run, "tone", 2, "2026-03-01T12:00:00Z"))
    mara = StoredLabel(0, "mara", "passed", "kind", "2026-03-02T12:00:00Z")
    put_label(database, "q-1", mara)
    put_label(database, "q-1", StoredLabel(1, "jo", "failed", "", "2026-03-02T12:00:00Z"))
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"".join(export_lines(database)))
    with open_store(str(tmp_path / "other.db"), create=True) as copy:
        assert import_file(copy, path).labels == 2
        assert (all_queues(copy), read_labels(copy, "q-1")) == (
            all_queues(database),
            read_labels(database, "q-1"),
        )
        later = mara._replace(label="failed", at="2026-03-03T12:00:00Z")
        put_label(copy, "q-1", later)
        assert import_file(copy, path).labels == 0
        assert later in read_labels(copy, "q-1")
    other = find_execution(database, "branch:b2")
    assert not any(line.startswith(b'{"queue"') for line in export_lines(database, [other]))


def find_run_id(database: Database, name: str) -> str:
    return msgspec.json.decode(read_run(database, find_execution(database, name)))["id"]


def test_importing_twice_changes_nothing(database: Database, make_run: MakeRun, tmp_path: Path):
    fill(database, make_run)
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(export_lines(database))))
    counts = import_file(database, path)
    assert (counts.executions, counts.known, counts.contents) == (0, 3, 0)
    assert verify(database).executions == 3


@pytest.mark.parametrize("indent", [-1, 2])
def test_printed_run_can_be_imported(
    database: Database, make_run: MakeRun, tmp_path: Path, indent: int
):
    path = tmp_path / "run.json"
    text = msgspec.json.encode(make_run(1.0, 0.1))
    path.write_bytes(msgspec.json.format(text, indent=indent) + b"\n")
    assert import_file(database, path).executions == 1
    assert read_run(database, find_execution(database, "latest")) == text


def test_export_can_be_limited_to_some_runs(database: Database, make_run: MakeRun):
    fill(database, make_run)
    (line,) = export_lines(database, [find_execution(database, "branch:b2")])
    assert msgspec.json.decode(line)["labels"] == {"branch": "b2"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "not part of a store export"),
        (b"[]", "not part of a store export"),
        (b"{}", "not a run: Object missing required field"),
        (b"\xff", "not part of a store export"),
        (b"[" * 100_000, "not part of a store export"),
        (b'{"run": 1}', "not a run: Expected `object`"),
        (b'{"kind": "runs; DROP TABLE", "address": "", "content": 1}', "Invalid enum value"),
        (b'{"kind": "traces", "address": "sha256:0", "content": {}}', "the trace has the address"),
    ],
)
def test_file_that_is_not_an_export_is_an_error(
    database: Database, tmp_path: Path, text: bytes, message: str
):
    path = tmp_path / "all.jsonl"
    path.write_bytes(text + b"\n")
    with pytest.raises(InputError, match=message) as raised:
        import_file(database, path)
    assert raised.value.where == f"{path} line 1"


def test_edited_value_in_an_export_is_an_error(
    database: Database, make_run: MakeRun, tmp_path: Path
):
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(make_run(0.25)).replace(b"0.25", b"0.95"))
    with pytest.raises(InputError, match="but the content has the id run-"):
        import_file(database, path)


def test_truncated_export_is_an_error(database: Database, tmp_path: Path):
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 1000)[:-20])
    with pytest.raises(InputError, match="damaged gzip data"):
        import_file(database, path)


@pytest.mark.parametrize(
    ("original", "replacement"),
    [
        (b'"total":1', b'"total":1' + b"0" * 40),
        (b'"2026-03-01T12:00:00Z"', b'"0001-01-01T00:00:00+23:59"'),
        (b'"unmatched"', b'"x":' + b"[" * 100_000 + b"]" * 100_000 + b',"unmatched"'),
    ],
)
def test_hostile_run_is_imported_or_refused_without_damage(
    database: Database, make_run: MakeRun, tmp_path: Path, original: bytes, replacement: bytes
):
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(make_run(0.25)).replace(original, replacement))
    with suppress(InputError):
        import_file(database, path)
    assert verify(database).problems == ()
