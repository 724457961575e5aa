"""A backup that is put back holds everything, as the guide for operators says."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from carob.api.history import export_runs, import_runs
from carob.api.review import create_queue, label_item, list_queues
from carob.api.serving.sessions import list_sessions, open_session
from carob.api.serving.tokens import TokenCheck, new_token
from carob.api.store import save_run
from carob.schema import Run
from carob.store import open_store
from carob.store.transfer import export_lines
from carob.store.verify import verify
from tests.api.agent_spans import chat, send
from tests.store.conftest import METRIC

MakeRun = Callable[..., Run]


@pytest.fixture
def filled(store_url: str, make_run: MakeRun) -> tuple[str, str]:
    """A store with a run, a label, a session and a token, and the token."""
    save_run(make_run(1.0, 0.5), store=store_url, labels={"branch": "main"})
    queue = create_queue("latest", METRIC, store=store_url)
    label_item(queue.id, 0, "passed", by="mara", store=store_url)
    send(store_url, chat(1, "Is it open?", "Until six."))
    return store_url, new_token(store_url, "ci", ["read"]).token


def content(store: str) -> bytes:
    with open_store(store) as database:
        assert verify(database).problems == ()
        return b"".join(export_lines(database))


def back_up_and_restore(store: str, folder: Path) -> str:
    """Make a backup while the store is in use, lose the store, and put the backup back."""
    if "://" not in store:
        for source in (Path(store), Path(store).with_suffix(".inbox.db")):
            with (
                closing(sqlite3.connect(source)) as old,
                closing(sqlite3.connect(folder / source.name)) as new,
            ):
                old.backup(new)  # as `.backup` of the command line
        return str(folder / Path(store).name)
    dump = subprocess.run(["pg_dump", "--schema=carob", store], check=True, capture_output=True)
    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute("DROP SCHEMA carob CASCADE")
    command = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", store]
    subprocess.run(command, input=dump.stdout, check=True, stdout=subprocess.DEVNULL)
    return store


def test_restored_backup_has_everything_and_goes_on(
    filled: tuple[str, str], tmp_path: Path, make_run: MakeRun
):
    store, token = filled
    before, sessions = content(store), list_sessions(store).items
    (tmp_path / "backup").mkdir()
    with open_store(store):  # others work with it
        restored = back_up_and_restore(store, tmp_path / "backup")
    assert content(restored) == before
    assert [item.id for item in list_sessions(restored).items] == [item.id for item in sessions]
    assert open_session(restored, sessions[0].id).trace
    assert TokenCheck(restored).roles(token) == {"read"}
    save_run(make_run(0.25), store=restored)
    send(restored, chat(2, "And tomorrow?", "From nine."))
    assert (content(restored) != before, len(list_sessions(restored).items)) == (True, 2)


def test_export_moves_runs_and_labels_to_another_kind_of_store(
    filled: tuple[str, str], tmp_path: Path
):
    store, _ = filled
    exported, other = tmp_path / "all.jsonl.gz", str(tmp_path / "other.db")
    report = export_runs(exported, store=store)
    assert (report.executions, report.labels) == (1, 1)
    assert import_runs(exported, store=other).labels == 1
    assert content(other) == content(store)
    (queue,) = list_queues(store=other)
    assert queue.labelled == 1
