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
from carob.store.document import of_run
from carob.store.history import find
from carob.store.runs import keep, read
from carob.store.shelf import Shelf
from carob.store.traces import find_trace, keep_traces
from carob.store.transfer import lines, take
from carob.store.verify import verify

MakeRun = Callable[..., Run]


def fill(database: Database, make_run: MakeRun) -> None:
    for day in (2, 1):
        run = make_run(0.1 * day, None, created_at=f"2026-03-0{day}T12:00:00Z", tags=("refund",))
        execution = keep(database, of_run(run), {"branch": f"b{day}"})
    keep(database, of_run(run), {"branch": "again"})
    keep_traces(database, execution, [Trace(id="trace_1", source="a.json")])
    Shelf(database, "calibration", dict[str, float]).put("judge:a", {"kappa": 0.8})


def test_a_store_becomes_a_file_and_a_store_again(
    database: Database, make_run: MakeRun, tmp_path: Path
):
    fill(database, make_run)
    exported = b"".join(lines(database))
    (tmp_path / "all.jsonl").write_bytes(exported)
    with open_store(str(tmp_path / "other.db"), create=True) as other:
        made = take(other, tmp_path / "all.jsonl")
        assert (made.executions, made.known, made.contents) == (3, 0, 2)
        assert b"".join(lines(other)) == exported
        assert find_trace(other, find(other, "branch:again"), 1) == Trace(
            id="trace_1", source="a.json"
        )
        assert verify(other).problems == ()


def test_twice_is_as_good_as_once(database: Database, make_run: MakeRun, tmp_path: Path):
    fill(database, make_run)
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(lines(database))))
    made = take(database, path)
    assert (made.executions, made.known, made.contents) == (0, 3, 0)
    assert verify(database).executions == 3


@pytest.mark.parametrize("indent", [-1, 2])
def test_a_run_that_was_printed_is_taken_in(
    database: Database, make_run: MakeRun, tmp_path: Path, indent: int
):
    path = tmp_path / "run.json"
    text = msgspec.json.encode(make_run(1.0, 0.1))
    path.write_bytes(msgspec.json.format(text, indent=indent) + b"\n")
    assert take(database, path).executions == 1
    assert read(database, find(database, "latest")) == text


def test_some_runs_can_be_chosen(database: Database, make_run: MakeRun):
    fill(database, make_run)
    (line,) = lines(database, [find(database, "branch:b2")])
    assert msgspec.json.decode(line)["labels"] == {"branch": "b2"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "nothing of a store"),
        (b"[]", "nothing of a store"),
        (b"{}", "no run: Object missing required field"),
        (b"\xff\xfe", "nothing of a store"),
        (b"[" * 100_000, "nothing of a store"),
        (b'{"run": 1}', "no run: Expected `object`"),
        (b'{"kind": "runs; DROP TABLE", "address": "", "content": 1}', "Invalid enum value"),
        (b'{"kind": "traces", "address": "sha256:0", "content": {}}', "the trace is that of"),
    ],
)
def test_what_is_no_export_is_refused(database: Database, tmp_path: Path, text: bytes, told: str):
    path = tmp_path / "all.jsonl"
    path.write_bytes(text + b"\n")
    with pytest.raises(InputError, match=told) as raised:
        take(database, path)
    assert raised.value.where == f"{path} line 1"


def test_a_number_that_was_changed_in_a_file_is_refused(
    database: Database, make_run: MakeRun, tmp_path: Path
):
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(make_run(0.25)).replace(b"0.25", b"0.95"))
    with pytest.raises(InputError, match="its numbers are those of run-"):
        take(database, path)


def test_a_file_that_is_cut_off_is_an_error(database: Database, tmp_path: Path):
    path = tmp_path / "all.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 1000)[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        take(database, path)


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        (b'"total":1', b'"total":1' + b"0" * 40),
        (b'"2026-03-01T12:00:00Z"', b'"0001-01-01T00:00:00+23:59"'),
        (b'"unmatched"', b'"x":' + b"[" * 100_000 + b"]" * 100_000 + b',"unmatched"'),
    ],
)
def test_a_hostile_run_is_taken_in_or_refused_but_breaks_nothing(
    database: Database, make_run: MakeRun, tmp_path: Path, found: bytes, instead: bytes
):
    path = tmp_path / "run.json"
    path.write_bytes(msgspec.json.encode(make_run(0.25)).replace(found, instead))
    with suppress(InputError):
        take(database, path)
    assert verify(database).problems == ()
