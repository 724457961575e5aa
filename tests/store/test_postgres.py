from __future__ import annotations

import sys
from pathlib import Path

import pytest

from carob.errors import InputError, UsageError, install_hint
from carob.store import open_store
from carob.store.postgres import without_password


def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path: Path):
    url = f"postgresql://mara:secret@/shop?host={tmp_path}&password=secret"
    with pytest.raises(InputError, match="cannot connect") as raised:
        open_store(url).__enter__()
    assert raised.value.where == "postgresql:///shop"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://mara:s@cret@db.example:5432/shop", "postgresql://db.example:5432/shop"),
        ("postgres://db/shop?password=secret", "postgres://db/shop"),
    ],
)
def test_an_address_is_shown_without_the_password(url: str, shown: str):
    assert without_password(url) == shown


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="requires the package 'psycopg'") as raised:
        open_store("postgresql://db/shop").__enter__()
    assert raised.value.hint == install_hint("postgres")


def test_other_addresses_are_no_stores():
    with pytest.raises(UsageError, match="unsupported store URL scheme 'mysql'"):
        open_store("mysql://db/shop").__enter__()


def test_everything_is_in_a_schema_of_its_own(postgres: str):
    with open_store(postgres) as database:
        sql = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('runs', 'migrations')"
        assert list(database.rows(sql)) == [("carob",)]
