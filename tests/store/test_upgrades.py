"""Stores of earlier versions are upgraded with everything that is in them."""

from __future__ import annotations

import gzip
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from carob.api import history
from carob.api.review import list_queues, queue_labels
from carob.api.serving.sessions import list_sessions, open_session
from carob.api.serving.tokens import list_tokens
from carob.api.store import save_run
from carob.schema import Run
from carob.store import open_store
from carob.store.blobs import blob_addresses, get_blob
from carob.store.calibrations import parse_calibration
from carob.store.inbox import open_inbox
from carob.store.migrate import INBOX, migrate, migrations
from carob.store.verify import verify

UPGRADES = Path(__file__).parent / "upgrades"
SCHEMAS = sorted(int(re.findall(r"\d+", file.name)[0]) for file in UPGRADES.glob("*.sql.gz"))
NEWEST = migrations()[-1].number
MakeRun = Callable[..., Run]


@pytest.fixture(params=SCHEMAS)
def schema(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=["sqlite", "postgresql"])
def old_store(request: pytest.FixtureRequest, schema: int, tmp_path: Path) -> str:
    """A store as an earlier version left it."""
    if request.param == "sqlite":
        for file in UPGRADES.glob(f"schema-{schema}.*db.gz"):
            name = file.name.removesuffix(".gz").replace(f"schema-{schema}", "old")
            (tmp_path / name).write_bytes(gzip.decompress(file.read_bytes()))
        return str(tmp_path / "old.db")
    url: str = request.getfixturevalue("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS carob CASCADE")
    dump = gzip.decompress((UPGRADES / f"schema-{schema}.sql.gz").read_bytes())
    command = ["psql", "--quiet", "--set=ON_ERROR_STOP=1", url]
    subprocess.run(command, input=dump, check=True, stdout=subprocess.DEVNULL)
    return url


def test_the_schema_before_the_newest_has_a_store():
    assert {NEWEST, NEWEST - 1} & {*SCHEMAS}, "see tests/store/upgrades/README.md"


def test_older_store_is_upgraded_with_its_content(old_store: str, schema: int, make_run: MakeRun):
    with open_store(old_store) as database:
        report = verify(database)
        assert next(database.rows("SELECT MAX(number) FROM migrations"))[0] == NEWEST
        (address,) = blob_addresses(database, "calibration")
        assert parse_calibration(get_blob(database, "calibration", address) or b"", "").metric
    assert (report.executions, report.runs, report.problems) == (2, 2, ())
    regressed, good = history.list_runs(store=old_store).runs
    assert (regressed.labels, good.labels) == ({"agent": "regressed"}, {"agent": "good"})
    assert history.stored_run("agent:good", store=old_store).id == good.id
    if schema >= 5:
        assert [(token.name, token.roles) for token in list_tokens(old_store)] == [
            ("ci", ("read", "write"))
        ]
        sessions = list_sessions(old_store).items
        assert len(sessions) == 2
        assert open_session(old_store, sessions[0].id).trace
    if schema >= 6:
        (queue,) = list_queues(store=old_store)
        (label,) = queue_labels(queue.id, store=old_store)
        assert (queue.labelled, label.label) == (1, "failed")
    save_run(make_run(1.0), store=old_store)
    assert len(history.list_runs(store=old_store).runs) == 3


def test_upgrading_twice_changes_nothing(old_store: str):
    with open_inbox(old_store), open_store(old_store) as database:
        before = [*database.rows("SELECT number, at FROM migrations ORDER BY number")]
        migrate(database)
        assert [*database.rows("SELECT number, at FROM migrations ORDER BY number")] == before
    with open_inbox(old_store) as inbox:
        migrate(inbox, INBOX)
