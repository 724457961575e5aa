from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.trust import (
    read_sensitive,
    record_trust,
    revoke_trust,
    state_folder,
    trust_check,
    trusted_configs,
)
from carob.config import load_config
from carob.errors import OutputError, UsageError

URL = "https://x.example.com/v1"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CAROB_TRUST", raising=False)


def write_config(folder: Path, url: str = URL) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "carob.toml"
    path.write_text(f'[judge]\nurl = "{url}"\n')
    return path


def is_trusted(path: Path) -> bool:
    return not load_config(path, trust=trust_check()).withheld


def test_trust_lasts_until_the_setting_changes(tmp_path: Path):
    path = write_config(tmp_path / "shop")
    assert not is_trusted(path)
    record_trust(read_sensitive(path))
    assert is_trusted(path)
    write_config(tmp_path / "shop", "https://elsewhere.example.com/v1")
    assert not is_trusted(path)
    write_config(tmp_path / "shop")
    assert is_trusted(path)


def test_trust_belongs_to_one_file(tmp_path: Path):
    record_trust(read_sensitive(write_config(tmp_path / "shop")))
    assert not is_trusted(write_config(tmp_path / "copy"))


def test_record_is_private_and_can_be_revoked(tmp_path: Path):
    path = write_config(tmp_path / "shop")
    record_trust(read_sensitive(path))
    (file,) = state_folder().iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert state_folder().stat().st_mode & 0o777 == 0o700
    assert [record.file for record in trusted_configs()] == [str(path)]
    path.unlink()  # trust in a file that is gone can be revoked as well
    revoke_trust(path)
    assert trusted_configs() == []
    with pytest.raises(UsageError, match="not a trusted file"):
        revoke_trust(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"file": 1}', b"\xff"])
def test_damaged_record_trusts_nothing(tmp_path: Path, content: bytes):
    path = write_config(tmp_path / "shop")
    record_trust(read_sensitive(path))
    next(state_folder().iterdir()).write_bytes(content)
    assert not is_trusted(path)
    assert trusted_configs() == []


def test_record_that_others_can_write_trusts_nothing(tmp_path: Path):
    path = write_config(tmp_path / "shop")
    record_trust(read_sensitive(path))
    next(state_folder().iterdir()).chmod(0o666)
    assert not is_trusted(path)


def test_repository_cannot_bring_its_own_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_config(tmp_path / "shop")
    record_trust(read_sensitive(path))
    (tmp_path / "shop" / ".git").mkdir()
    nested = write_config(tmp_path / "shop" / "sub")
    record_trust(read_sensitive(nested))
    (tmp_path / "state").rename(tmp_path / "shop" / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "shop" / "state"))
    assert not is_trusted(path)
    assert not is_trusted(nested)
    with pytest.raises(OutputError, match="in the repository"):
        record_trust(read_sensitive(nested))


def test_environment_trusts_a_digest_or_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_config(tmp_path / "shop")
    other = f"sha256:{'0' * 64}"
    for value, expected in [
        ("1", True),
        ("0", False),
        ("", False),
        (other, False),
        (f"{other}, {read_sensitive(path).digest}", True),
    ]:
        monkeypatch.setenv("CAROB_TRUST", value)
        assert is_trusted(path) is expected, value


def test_misspelt_environment_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CAROB_TRUST", "yes please")
    with pytest.raises(UsageError, match="CAROB_TRUST: expected a digest"):
        trust_check()


def test_relative_state_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert state_folder() == tmp_path / "home" / ".local" / "state" / "carob" / "trust"
