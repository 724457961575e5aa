from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from carob.errors import InputError, OutputError
from carob.schema import Run
from carob.store import open_store
from carob.store.document import split_run
from carob.store.history import HistoryQuery, find_execution, labels_query, page_query
from carob.store.runs import read_run, save_execution
from carob.store.verify import verify

MakeRun = Callable[..., Run]

_WRITER = """
import sys
from pathlib import Path
from carob.errors import CarobError
from carob.store import open_store
from carob.store.document import parse_document
from carob.store.runs import save_execution
import resource
place, small, large = sys.argv[1:]
with open_store(place, create=True) as database:
    save_execution(database, parse_document(Path(small).read_bytes(), small), {})
    size = Path(place + "-wal").stat().st_size + 100_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        save_execution(database, parse_document(Path(large).read_bytes(), large), {})
    except CarobError as error:
        print(type(error).__name__, error)
"""


def test_full_disk_is_an_error_and_does_no_damage(tmp_path: Path, make_run: MakeRun):
    small, large = make_run(1.0), make_run(*[0.25] * 5000)
    files = [tmp_path / "small.json", tmp_path / "large.json"]
    for file, run in zip(files, (small, large), strict=True):
        file.write_bytes(msgspec.json.encode(run))
    path = str(tmp_path / "carob.db")
    process = subprocess.run(
        [sys.executable, "-c", _WRITER, path, *map(str, files)], capture_output=True, check=True
    )
    message = f"OutputError {path}: cannot be written, nothing was changed: "
    assert process.stdout.decode().startswith(message)
    with open_store(path) as database:
        assert verify(database).problems == ()
        assert read_run(database, find_execution(database, "latest")) == msgspec.json.encode(small)
        save_execution(database, split_run(large), {})


def test_store_at_its_size_limit_is_full(tmp_path: Path, make_run: MakeRun):
    with open_store(str(tmp_path / "carob.db"), create=True) as database:
        list(database.rows("PRAGMA max_page_count = 40"))
        with pytest.raises(OutputError, match="cannot be written, nothing was changed"):
            save_execution(database, split_run(make_run(*[0.5] * 2000)), {})
        assert verify(database).runs == 0
        assert verify(database).problems == ()


def test_readers_and_writers_do_not_block_each_other(tmp_path: Path, make_run: MakeRun):
    path = str(tmp_path / "carob.db")
    with open_store(path, create=True) as writer, open_store(path) as reader, writer.writing():
        writer.execute("DELETE FROM runs")
        assert next(reader.rows("PRAGMA journal_mode"))[0] == "wal"
        assert next(reader.rows("SELECT COUNT(*) FROM executions"))[0] == 0


def test_value_edited_in_an_sql_prompt_is_detected(tmp_path: Path, make_run: MakeRun):
    path = str(tmp_path / "carob.db")
    with open_store(path, create=True) as database:
        save_execution(database, split_run(make_run(0.25)), {})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cases SET body = replace(body, '0.25', '0.95')")
    connection.close()
    with open_store(path) as database:
        assert "its body was changed" in verify(database).problems[0].message
        assert b"0.95" in read_run(database, find_execution(database, "latest"))
        database.execute("UPDATE runs SET cases = 'many'")
        assert "invalid rows" in verify(database).problems[0].message


def test_overwritten_page_is_detected(tmp_path: Path, make_run: MakeRun):
    path = tmp_path / "carob.db"
    with open_store(str(path), create=True) as database:
        save_execution(database, split_run(make_run(*[0.5] * 500)), {})
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xa5" * 8192)
    with open_store(str(path)) as database:
        assert verify(database).problems


def test_file_that_is_not_a_store_is_an_error(tmp_path: Path):
    path = tmp_path / "notes.db"
    path.write_text("These are my notes. " * 100)
    with pytest.raises(InputError, match="not a SQLite file"):
        open_store(str(path)).__enter__()
    assert path.read_text().startswith("These are my notes.")


def test_folder_that_cannot_be_created_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file/carob\.db: cannot be created"):
        open_store(str(tmp_path / "file" / "carob.db"), create=True).__enter__()


def test_store_is_created_only_on_demand(tmp_path: Path):
    path = tmp_path / "carob.db"
    with pytest.raises(InputError, match="no store found"):
        open_store(str(path)).__enter__()
    assert not path.exists()


def test_labels_of_a_page_are_found_by_an_index(tmp_path: Path):
    with open_store(str(tmp_path / "carob.db"), create=True) as database:
        sql = labels_query(2)
        (step,) = [row[3] for row in database.rows(f"EXPLAIN QUERY PLAN {sql}", (1, 2))]
    assert "facets_by_execution" in step


@pytest.mark.parametrize(
    "facets", [(), (("dataset", "shop"),), (("tag", "a"), ("label", "branch=main"))]
)
def test_page_is_found_by_an_index_and_is_not_sorted(
    tmp_path: Path, facets: tuple[tuple[str, str], ...]
):
    sql, values = page_query(HistoryQuery(facets=facets), (1, 1), 20)
    with open_store(str(tmp_path / "carob.db"), create=True) as database:
        plan = [row[3] for row in database.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert not [step for step in plan if "SCAN" in step or "TEMP B-TREE" in step]


def test_damaged_schema_that_sqlite_quotes_is_an_error(tmp_path: Path):
    path = tmp_path / "carob.db"
    with open_store(str(path), create=True):
        pass
    data = path.read_bytes()
    assert data.count(b"CREATE TABLE cases") == 1
    path.write_bytes(data.replace(b"CREATE TABLE cases", b"CREATE \xb2ABLE cases"))
    with pytest.raises(InputError, match=r"damaged content: .* 0xb2"), open_store(str(path)):
        pass
