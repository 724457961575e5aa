from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from carob.errors import InputError
from carob.schema import Run, Trace
from carob.store import Database, open_store
from carob.store.blobs import save_traces
from carob.store.document import split_run
from carob.store.migrate import Migration, migrate, migrations
from carob.store.runs import save_execution
from carob.store.verify import verify

MakeRun = Callable[..., Run]
NEWEST = [*migrations()][-1].number


def applied(database: Database) -> list[int]:
    return [row[0] for row in database.rows("SELECT number FROM migrations ORDER BY number")]


def forget_migrations(database: Database, after: int) -> None:
    """Undo all later migrations, which only create tables."""
    for migration in migrations():
        if migration.number > after:
            for table in re.findall(r"CREATE TABLE (\w+)", migration.sql):
                database.execute(f"DROP TABLE {table}")
    database.execute("DELETE FROM migrations WHERE number > ?", (after,))


def test_migrations_are_numbered_without_gaps():
    assert [migration.number for migration in migrations()] == [*range(1, NEWEST + 1)]


def test_new_store_has_every_migration(database: Database):
    assert applied(database) == [*range(1, NEWEST + 1)]
    migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]


def test_older_store_is_migrated_with_its_runs(database: Database, make_run: MakeRun):
    save_execution(database, split_run(make_run()), {})
    forget_migrations(database, after=1)
    migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]
    report = verify(database)
    assert (report.runs, report.entries, report.problems) == (1, 1, ())


def test_runs_from_before_the_ledger_are_covered_by_it(database: Database, make_run: MakeRun):
    first = save_execution(database, split_run(make_run(1.0)), {"branch": "main"})
    save_traces(database, first, [Trace(id="trace_0")])
    save_execution(database, split_run(make_run(0.5)), {})
    forget_migrations(database, after=2)
    migrate(database)
    assert verify(database).problems == ()
    database.execute("DELETE FROM executions WHERE number = ?", (first,))
    assert any("was deleted" in problem.message for problem in verify(database).problems)


def test_store_of_a_newer_version_is_an_error(store_url: str):
    with open_store(store_url, create=True) as database:
        database.execute("INSERT INTO migrations (number, name, at) VALUES (99, 'later', 0)")
    with pytest.raises(InputError, match=f"schema 99, this version supports {NEWEST}") as error:
        open_store(store_url).__enter__()
    assert error.value.hint == "upgrade Carob, or choose another store with --store"


def test_failed_migration_is_rolled_back(database: Database, monkeypatch: pytest.MonkeyPatch):
    broken = Migration(NEWEST + 1, "broken", "CREATE TABLE half (a BIGINT); CREATE TABLE runs ();")
    everything = [*migrations(), broken]

    def with_broken(_series: str) -> list[Migration]:
        return everything

    monkeypatch.setattr("carob.store.migrate.migrations", with_broken)
    with pytest.raises(InputError):
        migrate(database)
    assert applied(database) == [*range(1, NEWEST + 1)]
    with pytest.raises(InputError):
        list(database.rows("SELECT * FROM half"))
