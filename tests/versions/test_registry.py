from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.api import release as release_api
from carob.api import versions
from carob.errors import InputError, NotFoundError, RefusedError
from carob.versions.registry import Registry, folder_names


def golden(folder: Path, name: str, answer: str = "Yes.", file: str = "golden.json") -> Path:
    path = folder / file
    document = {"name": name, "examples": [{"input": "Open?", "expectedOutput": answer}]}
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "registry"


def test_datasets_are_stored_side_by_side(tmp_path: Path, root: Path):
    release_api.release(golden(tmp_path, "Support"), registry=root)
    release_api.release(golden(tmp_path, "RAG retrieval"), registry=root)
    assert [dataset.folder.name for dataset in Registry(root).datasets()] == [
        "rag-retrieval",
        "support",
    ]


def test_two_names_with_the_same_folder_do_not_collide(tmp_path: Path, root: Path):
    release_api.release(golden(tmp_path, "Support"), registry=root)
    release_api.release(golden(tmp_path, "support!", "No."), registry=root)
    first, second = (
        versions.versions("Support", registry=root),
        versions.versions("support!", registry=root),
    )
    assert [release.name for release in (*first, *second)] == ["Support", "support!"]
    assert versions.verify(registry=root) == ()


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "a/b\\c", "..", ".hidden", ""])
def test_hostile_name_stays_inside_the_registry(tmp_path: Path, root: Path, name: str):
    release_api.release(golden(tmp_path, name), registry=root)
    assert {path.name for path in tmp_path.iterdir()} == {"golden.json", "registry"}
    assert versions.versions(name, registry=root)[0].name == name


def test_release_is_found_by_name_or_folder_and_range(tmp_path: Path, root: Path):
    release_api.release(golden(tmp_path, "Bike Shop"), registry=root)
    release_api.release(golden(tmp_path, "Bike Shop", "No."), registry=root)
    versions_found = [
        Registry(root).find(name).record.version for name in ("Bike Shop", "bike-shop@^1")
    ]
    assert versions_found == ["2.0.0", "1.0.0"]


def test_unknown_release_is_an_error_that_lists_the_known_ones(tmp_path: Path, root: Path):
    release_api.release(golden(tmp_path, "support"), registry=root)
    with pytest.raises(NotFoundError, match="no dataset 'suport'") as caught:
        Registry(root).find("suport@1.0.0")
    assert caught.value.hint == "did you mean 'support'?"
    with pytest.raises(NotFoundError, match="no release") as caught:
        Registry(root).find("support@^2")
    assert caught.value.hint == "releases: 1.0.0"


def test_malformed_record_is_an_error_without_a_traceback(tmp_path: Path, root: Path):
    release_api.release(golden(tmp_path, "support"), registry=root)
    (root / "support" / "1.0.0" / "release.json").write_text('{"version": 1}')
    with pytest.raises(InputError, match="was edited"):
        versions.versions(registry=root)


def test_missing_registry_is_empty(root: Path):
    assert versions.versions(registry=root) == ()
    assert versions.verify(registry=root) == ()
    assert not root.exists()


def test_plain_name_is_its_own_folder():
    assert folder_names("support")[0] == "support"
    assert folder_names("Customer Support Bot (v2)")[0] == "customer-support-bot-v2"


@pytest.mark.parametrize("name", ["", "..", "/", "客户支持", "NUL", "com1", "\x00", "~"])
def test_name_that_is_not_a_valid_folder_gets_a_hashed_one(name: str):
    (folder,) = folder_names(name)
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{8}", folder)


@given(st.text(), st.text())
def test_folders_stay_inside_the_registry_and_the_last_is_unique(first: str, second: str):
    for folder in folder_names(first):
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,70}", folder)
    assert (folder_names(first)[-1] == folder_names(second)[-1]) == (first == second)


def test_published_release_that_nobody_recorded_is_recorded_by_the_next_attempt(tmp_path: Path):
    file, root = tmp_path / "support.json", tmp_path / "registry"
    examples = [{"input": "Open?", "expectedOutput": "Yes."}]
    file.write_text(json.dumps({"name": "support", "examples": examples}))
    record = release_api.release(file, by="Lena", registry=root)
    releases = Registry(root).releases_of("support")
    releases.announce(record)  # as a process does that is killed after it has published
    with pytest.raises(RefusedError, match="nothing changed since"):
        release_api.release(file, by="Lena", registry=root)
    newest = releases.newest()
    assert newest
    assert (newest.version, newest.seal, newest.next) == (record.version, record.seal, None)
