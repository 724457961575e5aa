from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import carob as library
from carob.api.golden.folder import GoldenFolder
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.api.store import save_run
from carob.api.views.run_index import CaseFilter
from carob.api.views.selected_cases import command_again, request_again, select_cases
from carob.errors import NotFoundError, RefusedError, UsageError
from carob.schema import Case, Dataset, MetricSpec, Run, Trace, Turn

CASES = tuple(Case.of(f"Question {n}?", f"Answer {n}.", id=f"q{n}") for n in range(4))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GoldenFolder:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden").mkdir()
    library.save(Dataset(name="faq", cases=CASES), tmp_path / "golden" / "faq.json", format="adk")
    return GoldenFolder(tmp_path / "golden", tmp_path / "golden" / "registry")


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "carob.db")


def make_run(folder: GoldenFolder, store: str, **options: object) -> Run:
    """A run in which the even cases fail, each with two attempts."""
    traces = [
        Trace(
            id=f"t{n}-{attempt}", case=f"q{n}", turns=(Turn(user=f"Question {n}?", response=text),)
        )
        for n in range(4)
        for attempt in (1, 2)
        for text in (f"Answer {n}." if n % 2 else "No idea at all",)
    ]
    request = RunRequest(
        recorded=traces,
        golden=folder.path / "faq.json",
        metrics=["rouge_l"],
        thresholds={"rouge_l": "0.7"},
        config=NO_CONFIG,
        store=store,
        keep_traces=True,
    )
    return evaluate(msgspec.structs.replace(request, **options)).run


def test_chosen_positions_win_over_the_filter_and_attempts_are_one_case(
    folder: GoldenFolder, store: str
):
    run = make_run(folder, store)
    failed = CaseFilter(status="failed")
    assert select_cases(run.id, wanted=failed, store=store).cases == ("q0", "q2")
    chosen = select_cases(run.id, [2, 3, 0, 2], failed, store=store)
    assert chosen.places == (2, 3, 0)
    assert chosen.cases == ("q1", "q0")
    assert chosen.failed_metrics == ("rouge_l",)
    with pytest.raises(NotFoundError, match="no case at position 8"):
        select_cases(run.id, [8], store=store)


def test_cases_are_run_again_with_the_metrics_and_thresholds_of_the_run(
    folder: GoldenFolder, store: str
):
    run = make_run(folder, store)
    request = request_again(select_cases(run.id, [0], store=store), target="shop")
    assert (request.dataset, request.cases, request.target) == ("faq", ("q0",), "shop")
    assert (request.metrics, request.thresholds) == (("rouge_l",), {"rouge_l": 0.7})


def test_other_parameters_than_those_of_this_server_are_refused(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    spec = run.metrics[0]
    changed = msgspec.structs.replace(spec, params={**spec.params, "extra": 1})
    selected = select_cases(run.id, [0], store=store)
    other = selected._replace(run=msgspec.structs.replace(run, metrics=(changed,)))
    with pytest.raises(RefusedError, match="rouge_l had other parameters"):
        request_again(other)


@pytest.mark.parametrize("name", ["rubric.yaml", "python:evil.py:score", "../rubric.toml"])
def test_run_that_names_files_or_code_opens_none(name: str, folder: GoldenFolder, store: str):
    Path("evil.py").write_text("raise SystemExit('ran')\n")
    Path("rubric.yaml").write_text("name: x\n")
    run = make_run(folder, store)
    spec = MetricSpec(
        name=name, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
    )
    evil = msgspec.structs.replace(run, id="run-00000000000000ee", metrics=(spec,))
    save_run(evil, store=store)
    with pytest.raises(UsageError, match="unknown metric"):
        request_again(select_cases(evil.id, [0], store=store))


def test_command_names_the_golden_file_and_is_unknown_without_it(folder: GoldenFolder, store: str):
    run = make_run(folder, store)
    assert command_again(run, folder) == (
        *("run", "--traces-of", run.id, "--golden", str(folder.path / "faq.json")),
        *("-m", "rouge_l", "--threshold", "rouge_l=0.7"),
    )
    (folder.path / "faq.json").unlink()
    assert command_again(run, folder) is None
