from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from carob.api import release, versions
from carob.errors import RefusedError
from carob.schema import Release
from carob.versions.digests import seal_release


def golden(folder: Path, *answers: str) -> Path:
    path = folder / "support.json"
    examples = [
        {"input": f"Question {number}?", "expectedOutput": text}
        for number, text in enumerate(answers)
    ]
    path.write_text(json.dumps({"name": "support", "examples": examples}))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """1.0.0, 1.1.0 and 2.0.0."""
    for answers in (("Yes.",), ("Yes.", "No."), ("No.", "No.")):
        release.release(
            golden(tmp_path, *answers), by="Lena", date="2026-01-01", registry=tmp_path / "registry"
        )
    return tmp_path / "registry"


def found(root: Path) -> list[tuple[str, str]]:
    problems = versions.verify(registry=root)
    return [(str(Path(problem.where).relative_to(root)), problem.message) for problem in problems]


def forge(folder: Path, **fields: object) -> None:
    """Change a record and seal it anew, as somebody would who knows how."""
    path = folder / "release.json"
    record = msgspec.json.decode(path.read_bytes(), type=Release)
    path.write_bytes(msgspec.json.encode(seal_release(msgspec.structs.replace(record, **fields))))


def test_an_untouched_registry_is_fine(root: Path):
    assert found(root) == []


@pytest.mark.parametrize("name", ["support.json", "CHANGELOG.md"])
def test_an_edited_file_is_found(root: Path, name: str):
    path = root / "support" / "1.1.0" / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert found(root) == [(f"support/1.1.0/{name}", "was edited")]


def test_a_deleted_file_is_found(root: Path):
    (root / "support" / "1.1.0" / "support.json").unlink()
    assert found(root) == [("support/1.1.0/support.json", "was deleted")]


def test_an_added_file_is_found(root: Path):
    (root / "support" / "1.1.0" / "more.json").write_text("{}")
    assert found(root) == [("support/1.1.0/more.json", "was added after the release")]


def test_changed_metadata_is_found(root: Path):
    path = root / "support" / "1.1.0" / "release.json"
    path.write_text(path.read_text().replace("Lena", "Somebody"))
    assert found(root) == [
        ("support/1.1.0/release.json", "was edited: it does not match its digest")
    ]


def test_metadata_changed_under_a_new_seal_is_found_by_the_next_release(root: Path):
    forge(root / "support" / "1.1.0", released_by="Somebody")
    assert found(root) == [("support/1.1.0", "was replaced: release 2.0.0 follows a different one")]


def test_the_newest_release_under_a_new_seal_is_found_too(root: Path):
    forge(root / "support" / "2.0.0", released_by="Somebody")
    assert found(root) == [("support/2.0.0", "was replaced: support.json names a different one")]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("1.0.0", "release 1.1.0 follows it"),
        ("1.1.0", "release 2.0.0 follows it"),
        ("2.0.0", "support.json names it"),
    ],
)
def test_a_deleted_release_is_found(root: Path, version: str, why: str):
    shutil.rmtree(root / "support" / version)
    assert found(root) == [(f"support/{version}", f"was deleted: {why}")]


def test_a_dataset_that_is_gone_is_found(root: Path):
    shutil.rmtree(root / "support")
    assert found(root) == [("support/2.0.0", "was deleted: support.json names it")]


def test_a_release_put_in_the_place_of_another_is_found(root: Path):
    shutil.rmtree(root / "support" / "1.1.0")
    shutil.copytree(root / "support" / "1.0.0", root / "support" / "1.1.0")
    assert ("support/1.1.0", "was replaced: it contains release 1.0.0") in found(root)


def test_a_release_slipped_in_is_found(root: Path):
    shutil.copytree(root / "support" / "1.1.0", root / "support" / "1.2.0")
    forge(root / "support" / "1.2.0", version="1.2.0")
    messages = [message for _, message in found(root)]
    assert "breaks the chain: it follows 1.0.0, not 1.1.0" in messages


def test_a_digest_that_is_not_that_of_the_content_is_found(root: Path):
    forge(root / "support" / "2.0.0", digest="sha256:00")
    assert any("expected sha256:00" in message for _, message in found(root))


def test_a_link_in_the_place_of_a_file_is_not_followed(root: Path, tmp_path: Path):
    path = root / "support" / "2.0.0" / "support.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert found(root) == [("support/2.0.0/support.json", "was deleted")]


def test_the_note_of_the_newest_release_may_lag_behind(root: Path):
    before = json.loads((root / "support" / "1.1.0" / "release.json").read_text())
    note = {"name": "support", "version": "1.1.0", "seal": before["seal"]}
    (root / "support.json").write_text(json.dumps(note))
    assert found(root) == []


USES: dict[str, Callable[[Path, Path], object]] = {
    "checkout": lambda root, file: versions.checkout(
        "support@1.1.0", file.with_name("x.json"), registry=root
    ),
    "diff": lambda root, file: versions.diff("support@1.1.0", file, registry=root),
    "release": lambda root, file: release.release(file, bump="major", registry=root),
}


@pytest.mark.parametrize("use", USES)
def test_nothing_is_built_on_a_release_that_was_touched(root: Path, tmp_path: Path, use: str):
    path = root / "support" / "1.1.0" / "support.json"
    path.write_text(path.read_text().replace("Yes.", "Maybe."))
    with pytest.raises(RefusedError, match="was edited"):
        USES[use](root, tmp_path / "support.json")
