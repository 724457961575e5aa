from __future__ import annotations

from pathlib import Path

import pytest

import carob
from carob.datasets.sidecar import read_sidecar, sidecar_path, write_with_sidecar
from carob.errors import InputError
from carob.schema import Case, Dataset


def dataset(answer: str, owner: str) -> Dataset:
    case = Case.of("Open?", answer, id="open", metadata={"owner": owner})
    return Dataset(name="faq", cases=[case])


def write(path: Path, answer: str, owner: str) -> tuple[bytes, bytes]:
    carob.save(dataset(answer, owner), path, format="explain")
    return path.read_bytes(), sidecar_path(path).read_bytes()


def owner(path: Path) -> object:
    return carob.load(path).cases[0].metadata.get("owner")


def states(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes | None]]:
    """Both files after every step of a write that replaces them."""
    from carob.datasets import sidecar

    seen: list[tuple[bytes, bytes | None]] = []
    write_file = sidecar.write_atomic

    def write_and_record(target: Path, data: bytes) -> None:
        write_file(target, data)
        file = sidecar_path(path)
        seen.append((path.read_bytes(), file.read_bytes() if file.exists() else None))

    monkeypatch.setattr(sidecar, "write_atomic", write_and_record)
    write(path, "No.", "new")
    return seen


def test_crash_at_any_step_leaves_a_table_with_its_own_sidecar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "faq.jsonl"
    old, _ = write(path, "Yes.", "old")
    seen = states(path, monkeypatch)
    assert len(seen) == 3
    for table, preserved in seen:
        path.write_bytes(table)
        sidecar_path(path).write_bytes(preserved or b"")
        assert owner(path) == ("old" if table == old else "new")


def test_next_write_after_a_crash_completes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "faq.jsonl"
    write(path, "Yes.", "old")
    table, preserved = states(path, monkeypatch)[0]
    complete = path.read_bytes(), sidecar_path(path).read_bytes()
    path.write_bytes(table)
    sidecar_path(path).write_bytes(preserved or b"")
    assert write(path, "No.", "new") == complete


def test_sidecar_of_another_version_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "faq.jsonl"
    write(path, "Yes.", "old")
    table, preserved = states(path, monkeypatch)[0]
    path.write_bytes(table.replace(b"Yes.", b"Sometimes."))
    sidecar_path(path).write_bytes(preserved or b"")
    with pytest.raises(InputError, match=r"another version of faq\.jsonl: a write was") as caught:
        carob.load(path)
    assert "delete faq.jsonl.carob.json" in str(caught.value.hint)
    sidecar_path(path).unlink()
    assert owner(path) is None


def test_edited_table_keeps_its_sidecar(tmp_path: Path):
    path = tmp_path / "faq.jsonl"
    table, _ = write(path, "Yes.", "old")
    path.write_bytes(table.replace(b"Yes.", b"Sometimes."))
    assert owner(path) == "old"


def test_name_that_leaves_no_room_for_a_sidecar_is_read_and_written(tmp_path: Path):
    path = tmp_path / ("n" * 249 + ".jsonl")
    table, _ = write(tmp_path / "faq.jsonl", "Yes.", "old")
    write_with_sidecar(path, table, read_sidecar(path))
    assert owner(path) is None
