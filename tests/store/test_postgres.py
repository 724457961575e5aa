from __future__ import annotations

import sys
from pathlib import Path

import pytest

from carob.errors import InputError, UsageError, install_hint
from carob.store import open_store
from carob.store.postgres import without_password


def test_unreachable_server_error_does_not_show_the_password(tmp_path: Path):
    url = f"postgresql://mara:secret@/shop?host={tmp_path}&password=secret"
    with pytest.raises(InputError, match="cannot connect") as raised:
        open_store(url).__enter__()
    assert raised.value.where == "postgresql:///shop"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "displayed"),
    [
        ("postgresql://mara:s@cret@db.example:5432/shop", "postgresql://db.example:5432/shop"),
        ("postgres://db/shop?password=secret", "postgres://db/shop"),
    ],
)
def test_displayed_url_has_no_password(url: str, displayed: str):
    assert without_password(url) == displayed


def test_missing_package_hints_at_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="requires the package 'psycopg'") as raised:
        open_store("postgresql://db/shop").__enter__()
    assert raised.value.hint == install_hint("postgres")


def test_unknown_url_scheme_is_an_error():
    with pytest.raises(UsageError, match="unsupported store URL scheme 'mysql'"):
        open_store("mysql://db/shop").__enter__()


def test_tables_are_in_a_separate_schema(postgres: str):
    with open_store(postgres) as database:
        sql = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('runs', 'migrations')"
        assert list(database.rows(sql)) == [("carob",)]
