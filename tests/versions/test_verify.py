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
from carob.versions.registry import folder_names, seal_release


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


def messages(root: Path) -> list[tuple[str, str]]:
    problems = versions.verify(registry=root)
    return [(str(Path(problem.where).relative_to(root)), problem.message) for problem in problems]


def forge(folder: Path, **fields: object) -> None:
    """Change a record and recompute its digest, as an informed attacker would."""
    path = folder / "release.json"
    record = msgspec.json.decode(path.read_bytes(), type=Release)
    path.write_bytes(msgspec.json.encode(seal_release(msgspec.structs.replace(record, **fields))))


def test_untouched_registry_has_no_problems(root: Path):
    assert messages(root) == []


@pytest.mark.parametrize("name", ["support.json", "CHANGELOG.md"])
def test_edited_file_is_detected(root: Path, name: str):
    path = root / "support" / "1.1.0" / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert messages(root) == [(f"support/1.1.0/{name}", "was edited")]


def test_deleted_file_is_detected(root: Path):
    (root / "support" / "1.1.0" / "support.json").unlink()
    assert messages(root) == [("support/1.1.0/support.json", "was deleted")]


def test_added_file_is_detected(root: Path):
    (root / "support" / "1.1.0" / "more.json").write_text("{}")
    assert messages(root) == [("support/1.1.0/more.json", "was added after the release")]


def test_changed_metadata_is_detected(root: Path):
    path = root / "support" / "1.1.0" / "release.json"
    path.write_text(path.read_text().replace("Lena", "Somebody"))
    assert messages(root) == [
        ("support/1.1.0/release.json", "was edited: it does not match its digest")
    ]


def test_metadata_with_a_recomputed_digest_is_detected_by_the_next_release(root: Path):
    forge(root / "support" / "1.1.0", released_by="Somebody")
    assert messages(root) == [
        ("support/1.1.0", "was replaced: release 2.0.0 follows a different one")
    ]


def test_newest_release_with_a_recomputed_digest_is_detected(root: Path):
    forge(root / "support" / "2.0.0", released_by="Somebody")
    assert messages(root) == [("support/2.0.0", "was replaced: support.json names a different one")]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("1.0.0", "release 1.1.0 follows it"),
        ("1.1.0", "release 2.0.0 follows it"),
        ("2.0.0", "support.json names it"),
    ],
)
def test_deleted_release_is_detected(root: Path, version: str, why: str):
    shutil.rmtree(root / "support" / version)
    assert messages(root) == [(f"support/{version}", f"was deleted: {why}")]


def test_deleted_dataset_is_detected(root: Path):
    shutil.rmtree(root / "support")
    assert messages(root) == [("support/2.0.0", "was deleted: support.json names it")]


def test_replaced_release_is_detected(root: Path):
    shutil.rmtree(root / "support" / "1.1.0")
    shutil.copytree(root / "support" / "1.0.0", root / "support" / "1.1.0")
    assert ("support/1.1.0", "was replaced: it contains release 1.0.0") in messages(root)


def test_inserted_release_is_detected(root: Path):
    shutil.copytree(root / "support" / "1.1.0", root / "support" / "1.2.0")
    forge(root / "support" / "1.2.0", version="1.2.0")
    texts = [message for _, message in messages(root)]
    assert "breaks the chain: it follows 1.0.0, not 1.1.0" in texts


def test_digest_that_does_not_match_the_content_is_detected(root: Path):
    forge(root / "support" / "2.0.0", digest="sha256:00")
    assert any("expected sha256:00" in message for _, message in messages(root))


def test_symlink_in_place_of_a_file_is_not_followed(root: Path, tmp_path: Path):
    path = root / "support" / "2.0.0" / "support.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert messages(root) == [("support/2.0.0/support.json", "was deleted")]


def seal_of(root: Path, version: str) -> str:
    return json.loads((root / "support" / version / "release.json").read_text())["seal"]


def write_note(root: Path, **fields: object) -> None:
    (root / "support.json").write_text(json.dumps({"name": "support", **fields}))


def test_outdated_note_does_not_vouch_for_the_newest_release(root: Path):
    write_note(root, version="1.1.0", seal=seal_of(root, "1.1.0"))
    message = "was added or is not the newest: support.json names 1.1.0"
    assert messages(root) == [("support/2.0.0", message)]


def test_newest_release_that_was_resealed_without_its_note_is_detected(root: Path):
    forge(root / "support" / "2.0.0", released_by="Somebody")
    (root / "support.json").unlink()
    message = "is missing: without it, nothing vouches for the newest release"
    assert messages(root) == [("support.json", message)]


@pytest.mark.parametrize("published", [True, False])
def test_release_that_was_interrupted_is_not_a_problem(root: Path, published: bool):
    before, newest = seal_of(root, "1.1.0"), seal_of(root, "2.0.0")
    write_note(root, version="1.1.0", seal=before, next={"version": "2.0.0", "seal": newest})
    if not published:
        shutil.rmtree(root / "support" / "2.0.0")
    assert messages(root) == []


def test_interrupted_release_vouches_for_its_own_seal_only(root: Path):
    before, newest = seal_of(root, "1.1.0"), seal_of(root, "2.0.0")
    write_note(root, version="1.1.0", seal=before, next={"version": "2.0.0", "seal": newest})
    forge(root / "support" / "2.0.0", released_by="Somebody")
    assert messages(root) == [("support/2.0.0", "was replaced: support.json names a different one")]


def test_rewritten_history_lacks_the_head_that_was_noted(root: Path, tmp_path: Path):
    head, older = seal_of(root, "2.0.0"), seal_of(root, "1.1.0")
    assert versions.verify(registry=root, heads=[head, older]) == ()
    forge(root / "support" / "2.0.0", released_by="Somebody")
    write_note(root, version="2.0.0", seal=seal_of(root, "2.0.0"))
    assert versions.verify(registry=root) == ()
    (problem,) = versions.verify(registry=root, heads=[head, older])
    assert (problem.where, problem.message[:31]) == (head, "is the head of no release: the ")


USES: dict[str, Callable[[Path, Path], object]] = {
    "checkout": lambda root, file: versions.checkout(
        "support@1.1.0", file.with_name("x.json"), registry=root
    ),
    "diff": lambda root, file: versions.diff("support@1.1.0", file, registry=root),
    "release": lambda root, file: release.release(file, bump="major", registry=root),
}


@pytest.mark.parametrize("use", USES)
def test_modified_release_cannot_be_followed_by_another(root: Path, tmp_path: Path, use: str):
    path = root / "support" / "1.1.0" / "support.json"
    path.write_text(path.read_text().replace("Yes.", "Maybe."))
    with pytest.raises(RefusedError, match="was edited"):
        USES[use](root, tmp_path / "support.json")


def test_note_that_names_another_dataset_is_detected(root: Path):
    note = root / "support.json"
    note.write_text(note.read_text().replace('"support"', '"billing"'))
    assert messages(root) == [
        ("support.json", "was edited: it names 'billing', its releases 'support'"),
        ("support", "was renamed: a dataset 'billing' has the folder 'billing'"),
    ]


def test_renamed_dataset_is_detected(root: Path):
    (root / "support").rename(root / "billing")
    (root / "support.json").rename(root / "billing.json")
    message = "was renamed: a dataset 'support' has the folder 'support'"
    assert messages(root) == [("billing", message)]


def test_second_folder_of_a_dataset_is_detected(root: Path):
    """Its releases are consistent in themselves, and would be checked out as the newest ones."""
    unique = folder_names("support")[1]
    shutil.copytree(root / "support", root / unique)
    shutil.copy(root / "support.json", root / f"{unique}.json")
    message = "was added: 'support' holds the releases of 'support'"
    assert messages(root) == [(unique, message)]
