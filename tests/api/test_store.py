from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.store import store_arguments, store_url


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CAROB_STORE", raising=False)


def test_command_needs_no_argument_for_the_store_that_it_finds_by_itself():
    assert store_arguments(".carob/carob.db") == ()
    assert store_arguments("team.db") == ("--store", "team.db")
    Path("carob.toml").write_text('[store]\npath = "team.db"\n')
    assert store_url() != ".carob/carob.db"
    assert store_arguments(store_url()) == ()
    assert store_arguments(".carob/carob.db") == ("--store", ".carob/carob.db")


def test_command_shows_no_password_of_a_database():
    assert store_arguments("postgresql://mara:secret@db.example.org/runs") == ()
