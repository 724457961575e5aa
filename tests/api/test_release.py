"""Releases of golden files, from the file to the registry and back."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from carob.api import datasets, release, versions
from carob.api.load import load
from carob.errors import InputError, RefusedError, UsageError
from carob.schema.digest import dataset_digest

EVALSET: dict[str, object] = {
    "eval_set_id": "support",
    "eval_cases": [
        {
            "eval_id": "hours",
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": "Open?"}]},
                    "final_response": {"role": "model", "parts": [{"text": "Yes."}]},
                    "intermediate_data": {"tool_uses": [{"name": "hours", "args": {}}]},
                }
            ],
        }
    ],
}


def examples(folder: Path, answer: str = "Yes.", **fields: object) -> Path:
    path = folder / "support.json"
    cases = [{"input": "Open?", "expectedOutput": answer}]
    path.write_text(json.dumps({"name": "support", **fields, "examples": cases}, indent=4))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "registry"


def test_version_is_written_into_the_file_and_nothing_else(tmp_path: Path, root: Path):
    file = examples(tmp_path, version="0.9.0")
    release.release(file, registry=root)
    before = examples(tmp_path, "No.", version="0.9.0").read_text()
    assert release.release(file, registry=root).version == "1.0.0"
    assert file.read_text() == before.replace("0.9.0", "1.0.0")
    assert (root / "support" / "1.0.0" / "support.json").read_text() == file.read_text()


def test_results_and_releases_have_the_same_digest(tmp_path: Path, root: Path):
    file = examples(tmp_path)
    before = dataset_digest(load(file))
    record = release.release(file, registry=root)
    assert record.digest == before == dataset_digest(load(file))
    assert load(file).version == record.version == "1.0.0"


def test_format_without_a_version_field_is_unchanged(tmp_path: Path, root: Path):
    file = tmp_path / "support.csv"
    file.write_text("Input,ExpectedOutput\r\nOpen?,Yes.\r\n", newline="")
    before = file.read_bytes()
    record = release.release(file, version="3.0.0", registry=root)
    assert (record.name, record.version, file.read_bytes()) == ("support", "3.0.0", before)


def test_sidecar_file_is_released_and_checked_out_with_its_table(tmp_path: Path, root: Path):
    source = tmp_path / "support.evalset.json"
    source.write_text(json.dumps(EVALSET))
    datasets.convert(source, tmp_path / "support.csv", to="csv")
    release.release(tmp_path / "support.csv", registry=root)
    path = versions.checkout("support@1.0.0", tmp_path / "copy.csv", registry=root).path
    assert load(path).cases == load(tmp_path / "support.csv").cases
    assert (tmp_path / "copy.csv.carob.json").is_file()


def test_version_in_preserved_fields_is_updated(tmp_path: Path, root: Path):
    evalset = tmp_path / "support.evalset.json"
    datasets.convert(examples(tmp_path, version="1.0.0"), evalset, to="adk")
    release.release(evalset, version="1.5.0", registry=root)
    assert load(evalset).version == "1.5.0"
    assert versions.verify(registry=root) == ()


def test_compressed_file_stays_compressed(tmp_path: Path, root: Path):
    file = tmp_path / "support.json.gz"
    file.write_bytes(gzip.compress(examples(tmp_path).read_bytes()))
    release.release(file, registry=root)
    assert load(file).version == "1.0.0"
    assert gzip.decompress(file.read_bytes()).startswith(b"{")


def test_format_change_that_loses_expectations_is_major(tmp_path: Path, root: Path):
    file = tmp_path / "support.json"
    file.write_text(json.dumps(EVALSET))
    release.release(file, registry=root)
    examples(tmp_path)
    with pytest.raises(RefusedError, match=r"hours: turns\[0\]\.tool_calls removed"):
        release.release(file, bump="minor", registry=root)
    assert release.release(file, registry=root).version == "2.0.0"


def test_refused_release_changes_nothing(tmp_path: Path, root: Path):
    file = examples(tmp_path, version="1.0.0")
    release.release(file, registry=root)
    before = examples(tmp_path, "No.", version="1.0.0").read_bytes()
    tree = sorted(root.rglob("*"))
    with pytest.raises(RefusedError):
        release.release(file, bump="patch", registry=root)
    assert (file.read_bytes(), sorted(root.rglob("*"))) == (before, tree)


def test_release_that_fails_late_restores_the_version_of_the_file(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    file = examples(tmp_path, version="0.1.0")
    before = file.read_bytes()
    monkeypatch.setattr("carob.versions.publish.StagedRelease.publish", _fail)
    with pytest.raises(RefusedError, match="too late"):
        release.release(file, version="1.0.0", registry=root)
    assert file.read_bytes() == before


def _fail(_stage: object) -> None:
    raise RefusedError("too late")


def test_file_that_changes_during_the_release_is_not_released(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    file = examples(tmp_path)

    def edit(_folder: Path) -> None:
        examples(tmp_path, "No.")

    monkeypatch.setattr("carob.versions.git.current_commit", edit)
    with pytest.raises(RefusedError, match="was edited while it was being released"):
        release.release(file, registry=root)
    assert versions.versions(registry=root) == ()


@pytest.mark.parametrize("name", ["release.json", "CHANGELOG.md"])
def test_file_named_like_a_release_record_is_an_error(tmp_path: Path, root: Path, name: str):
    file = examples(tmp_path).rename(tmp_path / name)
    with pytest.raises(UsageError, match="is reserved in a release"):
        release.release(file, registry=root)


def test_release_records_author_date_purpose_and_commit(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    file = examples(tmp_path)
    git = [
        "git",
        "-C",
        str(tmp_path),
        "-c",
        "user.name=Lena Ortiz",
        "-c",
        "user.email=lena@example.com",
    ]
    for words in (["init", "-q"], ["config", "user.name", "Lena Ortiz"], ["add", "."]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "commit", "-qm", "golden"], check=True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    record = release.release(file, for_=["agent 2.1"], registry=root)
    assert (record.released_by, record.released_at) == ("Lena Ortiz", "2026-01-01T00:00:00Z")
    assert record.made_for == ("agent 2.1",)
    assert record.commit is not None
    assert len(record.commit) == 40


def test_without_git_there_is_no_commit(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    record = release.release(examples(tmp_path), by="Lena", registry=root)
    assert (record.commit, record.released_by) == (None, "Lena")


@pytest.mark.parametrize("date", ["soon", "2026-13-01"])
def test_invalid_date_is_an_error(tmp_path: Path, root: Path, date: str):
    with pytest.raises(UsageError, match="invalid time"):
        release.release(examples(tmp_path), date=date, registry=root)


def test_release_that_requires_approval_lists_the_drafts(tmp_path: Path, root: Path):
    file = examples(tmp_path)
    (case,) = load(file).cases
    with pytest.raises(RefusedError, match=rf"1 of 1 cases are not approved: {case.id} \(draft\)"):
        release.release(file, require_approved=True, registry=root)
    versions.mark_reviewed(file, [case.id], "approved", by="Lena", date="2026-02-01")
    assert release.release(file, require_approved=True, registry=root).version == "1.0.0"
    assert load(file).cases[0].metadata["reviewed_at"] == "2026-02-01"


def test_review_of_a_table_is_stored_in_its_sidecar_file(tmp_path: Path):
    file = tmp_path / "support.csv"
    file.write_text("Input,ExpectedOutput\nOpen?,Yes.\n")
    versions.mark_reviewed(file, None, "reviewed", by="Lena", date="2026-02-01")
    assert [case.status for case in versions.review(file)] == ["reviewed"]


def test_key_order_and_whitespace_are_not_differences(tmp_path: Path):
    old = examples(tmp_path, version="1.0.0")
    document = json.loads(old.read_text())
    document["examples"] = [dict(reversed(case.items())) for case in document["examples"]]
    new = tmp_path / "new.json"
    new.write_text(json.dumps(dict(reversed(document.items())), separators=(",", ":")))
    assert versions.diff(old, new).bump == "none"


def test_checkout_does_not_overwrite_a_modified_file(tmp_path: Path, root: Path):
    file = examples(tmp_path)
    release.release(file, registry=root)
    examples(tmp_path, "No.")
    with pytest.raises(UsageError, match="already exists and differs"):
        versions.checkout("support", file, registry=root)
    versions.checkout("support", file, force=True, registry=root)
    assert versions.diff("support@1.0.0", file, registry=root).bump == "none"


def test_checkout_into_a_folder_preserves_the_file_name(tmp_path: Path, root: Path):
    release.release(examples(tmp_path), registry=root)
    (tmp_path / "there").mkdir()
    assert (
        versions.checkout("support@^1", tmp_path / "there", registry=root).path.name
        == "support.json"
    )


def test_checkout_reports_the_bytes_of_each_file(tmp_path: Path, root: Path):
    file = examples(tmp_path)
    release.release(file, registry=root)
    steps: list[tuple[int, int]] = []
    copy = tmp_path / "copy.json"
    versions.checkout(
        "support", copy, registry=root, progress=lambda done, total: steps.append((done, total))
    )
    assert copy.read_bytes() == file.read_bytes()
    assert set(steps) == {(file.stat().st_size, file.stat().st_size)}


def test_release_can_be_loaded_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "support.csv"
    table.write_text("Input,ExpectedOutput\nOpen?,Yes.\n")
    record = release.release(table)
    dataset = load("support@^1")
    assert (dataset.name, dataset.version) == ("support", "1.0.0")
    assert dataset_digest(dataset) == record.digest


@pytest.mark.parametrize("name", ["user@example.com.json", "a/b@1.0.0", "x@y.csv"])
def test_path_with_an_at_sign_is_still_a_path(tmp_path: Path, name: str):
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        load(name)


def test_release_cannot_be_released_or_reviewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    release.release(examples(tmp_path))
    with pytest.raises(UsageError, match="is a release and cannot be changed"):
        release.release("support@1.0.0", bump="major")
    with pytest.raises(UsageError, match="is a release and cannot be changed"):
        versions.mark_reviewed("support@1.0.0", None, "approved", by="Lena")
