from __future__ import annotations

from collections.abc import Callable

import pytest

from carob.errors import InputError
from carob.schema import Run
from carob.store import Database, open_store
from carob.store.document import document_of_run
from carob.store.migrate import Migration, migrate, migrations
from carob.store.runs import save_execution
from carob.store.verify import verify

MakeRun = Callable[..., Run]
NEWEST = [*migrations()][-1].number


def applied(database: Database) -> list[int]:
    return [row[0] for row in database.rows("SELECT number FROM migrations ORDER BY number")]


def test_migrations_are_numbered_without_gaps():
    assert [one.number for one in migrations()] == [*range(1, NEWEST + 1)]


def test_a_new_store_has_them_all(database: Database):
    assert applied(database) == [*range(1, NEWEST + 1)]
    migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]


def test_an_older_store_is_brought_up_to_date_with_its_runs(database: Database, make_run: MakeRun):
    save_execution(database, document_of_run(make_run()), {})
    for table in ("traces", "judge_cache", "calibration", "case_traces"):
        database.execute(f"DROP TABLE {table}")
    database.execute("DELETE FROM migrations WHERE number > 1")
    migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]
    assert verify(database).runs == 1


def test_a_store_of_a_newer_version_is_refused(place: str):
    with open_store(place, create=True) as database:
        database.execute("INSERT INTO migrations (number, name, at) VALUES (99, 'later', 0)")
    with pytest.raises(InputError, match=f"schema 99, this version supports {NEWEST}") as error:
        open_store(place).__enter__()
    assert error.value.hint == "upgrade Carob, or choose another store with --store"


def test_a_migration_that_fails_leaves_nothing_behind(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    broken = Migration(NEWEST + 1, "broken", "CREATE TABLE half (a BIGINT); CREATE TABLE runs ();")
    monkeypatch.setattr("carob.store.migrate.migrations", lambda: [*migrations(), broken])
    with pytest.raises(InputError):
        migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]
    with pytest.raises(InputError):
        list(database.rows("SELECT * FROM half"))
