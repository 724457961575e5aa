from __future__ import annotations

import time
from pathlib import Path

import pytest

import carob as library
from carob.api.golden import GoldenFolder
from carob.api.ingest import Ingest
from carob.api.regression_draft import (
    add_failed_case,
    add_failed_session,
    preview_failed_case,
    preview_failed_session,
)
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.errors import RefusedError, UsageError
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


def test_failure_is_cut_masked_and_added_as_a_draft(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    preview = preview_failed_case(folder, run, "prune", store=store)
    assert (preview.divergence.turn, preview.turns, len(preview.case.turns)) == (1, 3, 2)
    assert preview.is_masked
    assert "<email-1>" in str(preview.case.turns[1].user)
    add_failed_case(folder, run, "prune", store=store)
    *_, added = library.load(folder.path / "garden.json").cases
    assert added.id == preview.case.id
    assert added.metadata["review_status"] == "draft"
    assert added.metadata["run"] == run
    assert added.metadata["parent"] == "prune"


def test_failure_that_a_case_covers_is_not_added(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    assert preview_failed_case(folder, run, "soil", store=store).duplicate == "soil"
    with pytest.raises(RefusedError, match="has the same messages"):
        add_failed_case(folder, run, "soil", store=store)
    add_failed_case(folder, run, "prune", store=store)
    with pytest.raises(RefusedError, match="has the same messages"):
        add_failed_case(folder, run, "prune", store=store)


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
