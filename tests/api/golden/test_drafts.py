from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from carob.api.golden import drafts
from carob.api.golden import folder as golden
from carob.api.golden.folder import GoldenFolder
from carob.errors import NotFoundError, RefusedError, StaleError, UsageError
from carob.schema import Case, Turn
from carob.schema.digest import expectation_digest

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def folder(tmp_path: Path) -> GoldenFolder:
    path = tmp_path / "golden"
    path.mkdir()
    shutil.copy(SAMPLES / "adk" / "returns.json", path)
    shutil.copy(SAMPLES / "csv" / "faq.csv", path)
    (path / "notes.txt").write_text("not golden")
    return GoldenFolder(path, path / "registry")


def first_case(folder: GoldenFolder) -> Case:
    return drafts.list_cases(folder, "garden_returns", limit=1).items[0].case


def test_datasets_are_found_by_name_and_by_file_name(folder: GoldenFolder):
    entries = golden.list_datasets(folder)
    assert [(entry.name, entry.file) for entry in entries] == [
        ("faq", "faq.csv"),
        ("garden_returns", "returns.json"),
    ]
    assert golden.find_file(folder, "returns") == golden.find_file(folder, "garden_returns")


@pytest.mark.parametrize("name", ["../golden/faq", "/etc/passwd", "faq.csv", "", "."])
def test_name_is_looked_up_and_never_opened(folder: GoldenFolder, name: str):
    with pytest.raises(NotFoundError):
        golden.find_file(folder, name)


def test_broken_file_is_listed_with_its_problem(folder: GoldenFolder):
    (folder.path / "broken.json").write_text('{"eval_set_id": "x", "eval_cases": 3}')
    entry = next(e for e in golden.list_datasets(folder) if e.file == "broken.json")
    assert entry.cases is None
    assert entry.problems


def test_edit_of_one_case_leaves_the_others_byte_for_byte(folder: GoldenFolder):
    file = folder.path / "returns.json"
    before = file.read_text()
    case = first_case(folder)
    turn = msgspec.structs.replace(case.turns[0], response="A new answer.")
    edited = msgspec.structs.replace(case, turns=(turn, *case.turns[1:]))
    drafts.put_case(
        folder,
        "garden_returns",
        edited,
        revision=drafts.get_case(folder, "returns", case.id).digest,
    )
    old = case.turns[0].response
    assert old
    assert file.read_text() == before.replace(json.dumps(old), '"A new answer."', 1)


def test_edit_of_a_state_that_is_gone_is_stale(folder: GoldenFolder):
    case = first_case(folder)
    with pytest.raises(StaleError, match="has changed"):
        drafts.put_case(folder, "garden_returns", case, revision="sha256:0")
    with pytest.raises(StaleError, match="exists already"):
        drafts.put_case(folder, "garden_returns", case, revision=drafts.NEW)
    with pytest.raises(StaleError):
        drafts.delete_case(folder, "garden_returns", case.id, revision="sha256:0")


def test_only_what_a_run_expected_is_approved_with_its_answer(folder: GoldenFolder):
    case = first_case(folder)
    scored = expectation_digest(case)
    tagged = msgspec.structs.replace(case, tags=("seen",))  # no change of what is expected
    drafts.put_case(folder, "garden_returns", tagged, revision=None)
    approved = drafts.approve_scored_case(
        folder, "garden_returns", case.id, scored=scored, by="Ida"
    )
    assert approved.review == "approved"
    turns = (msgspec.structs.replace(case.turns[0], response="Something else."), *case.turns[1:])
    drafts.put_case(
        folder, "garden_returns", msgspec.structs.replace(tagged, turns=turns), revision=None
    )
    with pytest.raises(StaleError, match="has changed since the run"):
        drafts.approve_scored_case(folder, "garden_returns", case.id, scored=scored, by="Ida")


def test_case_that_the_format_cannot_hold_is_refused_and_nothing_is_written(folder: GoldenFolder):
    file = folder.path / "faq.csv"
    before = file.read_bytes()
    case = Case(id="new", turns=(Turn(user="Are you open on Monday?"),))
    with pytest.raises(RefusedError, match="the format csv cannot hold case 'new'"):
        drafts.put_case(folder, "faq", case, revision=drafts.NEW)
    assert file.read_bytes() == before
    assert not file.with_name("faq.csv.carob.json").exists()


def test_draft_states_changes_and_the_version_that_they_require(folder: GoldenFolder):
    assert drafts.get_draft(folder, "garden_returns").next_version == "1.0.0"
    drafts.release_draft(folder, "garden_returns", by="Mara")
    draft = drafts.get_draft(folder, "garden_returns")
    assert (draft.version, draft.next_version) == ("1.0.0", None)
    drafts.put_case(folder, "garden_returns", Case.of("Hi", "Hello", id="hi"), revision=drafts.NEW)
    draft = drafts.get_draft(folder, "garden_returns")
    assert draft.diff
    assert (draft.diff.bump, draft.next_version) == ("minor", "1.1.0")
    with pytest.raises(StaleError):
        drafts.release_draft(folder, "garden_returns", by="Mara", revision="sha256:0")
    released = drafts.release_draft(folder, "garden_returns", by="Mara", revision=draft.digest)
    assert released.version == "1.1.0"


def test_last_case_cannot_be_deleted(folder: GoldenFolder):
    first, second = (item.case.id for item in drafts.list_cases(folder, "garden_returns").items)
    drafts.delete_case(folder, "garden_returns", first, revision=None)
    with pytest.raises(RefusedError, match="at least one case"):
        drafts.delete_case(folder, "garden_returns", second, revision=None)


def test_pages_of_cases_continue_after_the_last_one(folder: GoldenFolder):
    page = drafts.list_cases(folder, "garden_returns", limit=1)
    rest = drafts.list_cases(folder, "garden_returns", limit=1, after=page.next)
    assert (page.total, rest.next) == (2, None)
    assert page.items[0].case.id != rest.items[0].case.id
    assert drafts.list_cases(folder, "garden_returns", text="no such text").items == ()


@pytest.mark.parametrize("name", ["conftest.py", "carob.toml", "other.csv.carob.json", "other"])
def test_uploaded_file_needs_the_name_of_a_golden_file(folder: GoldenFolder, name: str):
    with pytest.raises(UsageError, match="is not the name of a golden file"):
        golden.add_dataset(folder, SAMPLES / "adk" / "returns.json", name)
    assert not (folder.path / name).exists()


def test_dataset_is_not_uploaded_twice(folder: GoldenFolder, tmp_path: Path):
    with pytest.raises(RefusedError, match="already holds"):
        golden.add_dataset(folder, SAMPLES / "adk" / "returns.json", "other.json")
    golden.remove_dataset(folder, "garden_returns")
    entry = golden.add_dataset(folder, SAMPLES / "adk" / "returns.json", "other.json")
    assert (entry.name, entry.file) == ("garden_returns", "other.json")
