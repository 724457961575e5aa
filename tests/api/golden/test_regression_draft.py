from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

import carob as library
from carob.api.golden.folder import GoldenFolder
from carob.api.golden.regression_draft import (
    add_failed_session,
    add_regressions,
    preview_failed_case,
    preview_failed_cases,
    preview_failed_session,
)
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.serving.ingest import Ingest
from carob.api.settings import NO_CONFIG
from carob.errors import NotFoundError, RefusedError, StaleError, UsageError
from carob.schema import Case, Dataset, Trace, Turn
from tests.browser.workspace import otlp_session

PRUNE = Case(
    id="prune",
    turns=(
        Turn(user="Where do roses grow?", response="Roses need sun."),
        Turn(user="When do I cut them? Write to ada@flowers.net", response="In early spring."),
        Turn(user="And how far?", response="To three buds."),
    ),
)
SOIL = Case.of("How much compost?", "About 300 litres.", id="soil")


@pytest.fixture
def folder(tmp_path: Path) -> GoldenFolder:
    (tmp_path / "golden").mkdir()
    golden = Dataset(name="garden", cases=(PRUNE, SOIL))
    library.save(golden, tmp_path / "golden" / "garden.json", format="questions")
    return GoldenFolder(tmp_path / "golden", tmp_path / "golden" / "registry")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "carob.db")


def make_run(folder: GoldenFolder, store: str) -> str:
    """A run in which the second turn of one case, and the only turn of another, go wrong."""
    wrong = Turn(user=PRUNE.turns[1].user, response="I do not know.")
    traces = [
        Trace(id="t1", case="prune", turns=(PRUNE.turns[0], wrong, PRUNE.turns[2])),
        Trace(id="t2", case="soil", turns=(Turn(user="How much compost?", response="No idea."),)),
    ]
    request = RunRequest(
        recorded=traces,
        golden=folder.path / "garden.json",
        metrics=["response_match_score"],
        config=NO_CONFIG,
        store=store,
        keep_traces=True,
    )
    return evaluate(request).run.id


def add_case(folder: GoldenFolder, run: str, case: str, store: str) -> None:
    add_regressions(folder, [preview_failed_case(folder, run, case, store=store)])


def test_failure_is_cut_masked_and_added_as_a_draft(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    preview = preview_failed_case(folder, run, "prune", store=store)
    assert (preview.divergence.turn, preview.turns, len(preview.case.turns)) == (1, 3, 2)
    assert preview.is_masked
    assert "<email-1>" in str(preview.case.turns[1].user)
    add_case(folder, run, "prune", store)
    *_, added = library.load(folder.path / "garden.json").cases
    assert added.id == preview.case.id
    assert added.metadata["review_status"] == "draft"
    assert added.metadata["run"] == run
    assert added.metadata["parent"] == "prune"


def test_failure_that_a_case_covers_is_not_added(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    assert preview_failed_case(folder, run, "soil", store=store).duplicate == "soil"
    with pytest.raises(RefusedError, match="has the same messages"):
        add_case(folder, run, "soil", store)
    add_case(folder, run, "prune", store)
    with pytest.raises(RefusedError, match="has the same messages"):
        add_case(folder, run, "prune", store)


def send(store: str, name: str, user: str, answer: str) -> None:
    with Ingest(store) as ingest:
        stored = ingest.accept(otlp_session(name, user, answer), "traces", "json").stored
        assert stored
        stored.result(30)
        while ingest.behind():
            time.sleep(0.01)


def test_session_that_matches_no_case_expects_nothing_yet(folder: GoldenFolder, store: str):
    send(store, "talk", "Do moles bite? Ask ben@flowers.net", "Always.")
    preview = preview_failed_session(folder, "talk", "garden", store=store)
    assert (preview.parent, preview.divergence.what) == (None, "not located")
    assert preview.case.turns == (Turn(user="Do moles bite? Ask <email-1>"),)
    add_failed_session(folder, "talk", "garden", store=store)
    *_, added = library.load(folder.path / "garden.json").cases
    assert added.metadata["session_id"] == "talk"
    with pytest.raises(UsageError, match="no turn 2"):
        preview_failed_session(folder, "talk", "garden", turn=2, store=store)


def test_several_failures_are_added_at_once_and_others_are_named(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    batch = preview_failed_cases(folder, run, [0, 1], store=store)
    assert [entry.failed for entry in batch.regressions] == ["prune", "soil"]
    assert [entry.duplicate for entry in batch.regressions] == [None, "soil"]
    alone = preview_failed_case(folder, run, "prune", store=store)
    assert batch.addable == (alone,)
    add_regressions(folder, batch.addable)
    *_, added = library.load(folder.path / "garden.json").cases
    assert added.id == alone.case.id
    again = preview_failed_cases(folder, run, [0, 1], store=store)
    assert again.addable == ()
    with pytest.raises(NotFoundError, match="no case at position 7"):
        preview_failed_cases(folder, run, [0, 7], store=store)


def test_nothing_is_added_if_one_of_several_exists_by_now(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    before = preview_failed_case(folder, run, "prune", store=store)
    add_case(folder, run, "prune", store)
    content = (folder.path / "garden.json").read_bytes()
    other = msgspec.structs.replace(before.case, id="another")
    with pytest.raises(StaleError, match="exists already"):
        add_regressions(folder, [before._replace(case=other), before])
    assert (folder.path / "garden.json").read_bytes() == content


def test_case_that_passed_is_left_out(folder: GoldenFolder, store: str):
    good = Trace(id="t1", case="prune", turns=PRUNE.turns)
    golden = folder.path / "garden.json"
    request = RunRequest(
        recorded=[good],
        golden=golden,
        metrics=["response_match_score"],
        cases=["prune"],
        config=NO_CONFIG,
        store=store,
    )
    run = evaluate(request).run.id
    assert preview_failed_cases(folder, run, [0], store=store).left_out == (
        ("prune", "did not fail"),
    )
    with pytest.raises(RefusedError, match="case 'prune' did not fail in run-"):
        preview_failed_case(folder, run, "prune", store=store)
