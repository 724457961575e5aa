from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.store import check_labels, store_arguments, store_url
from carob.errors import UsageError


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


def test_label_that_would_be_cut_is_an_error():
    check_labels({"note": "x" * 250})
    with pytest.raises(UsageError, match="the label 'note' has 256 characters, expected at most"):
        check_labels({"note": "x" * 251})
