from __future__ import annotations

from pathlib import Path

import pytest

import carob
from carob import Case, Dataset
from carob.api.run_request import RunRequest
from carob.api.running.selection import make_selection
from carob.api.runs import evaluate
from carob.errors import UsageError
from carob.schema import CaseSelection, Run
from carob.schema.digest import dataset_digest

DATASET = Dataset(
    name="shop",
    cases=[
        Case.of("Open?", "Yes.", id="open", tags=["hours"], metadata={"level": 1, "area": "a"}),
        Case.of("Monday?", "No.", id="monday", tags=["hours"], metadata={"level": 2}),
        Case.of("Bells?", "Yes.", id="bells", metadata={"level": 2, "area": ["a", "b", "b"]}),
    ],
)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    chat = '{"messages": [{"role": "user", "content": "%s"}, %s]}\n'
    answer = '{"role": "assistant", "content": "Yes."}'
    path.write_text("".join(chat % (user, answer) for user in ("Open?", "Bells?", "Hello?")))
    return path


def statuses(run: Run) -> dict[str | None, str]:
    return {result.case: result.status for result in run.cases}


def test_only_selected_cases_are_scored(traces: Path):
    run = carob.run(traces, golden=DATASET, metrics="exact_match", tags="hours")
    assert statuses(run) == {"open": "passed", "monday": "unscored"}
    run = carob.run(traces, golden=DATASET, metrics="exact_match", cases=["bells"])
    assert statuses(run) == {"bells": "passed"}
    run = carob.run(traces, golden=DATASET, metrics="exact_match", where="metadata.level == 2")
    assert statuses(run) == {"monday": "unscored", "bells": "passed"}
    run = carob.run(traces, golden=DATASET, metrics="exact_match", limit=1)
    assert statuses(run) == {"open": "passed"}


def test_traces_of_other_cases_are_neither_errors_nor_unmatched(traces: Path):
    run = carob.run(traces, golden=DATASET, metrics="exact_match", cases="open")
    full_run = carob.run(traces, golden=DATASET, metrics="exact_match")
    assert run.verdict == "passed"
    assert len(run.unmatched) == 1
    assert run.unmatched == full_run.unmatched


def test_every_selected_case_is_crossed_with_every_trace(traces: Path):
    run = carob.run(traces, golden=DATASET, metrics="exact_match", cases="open", cross=True)
    assert [result.case for result in run.cases] == ["open"] * 3


def test_run_records_the_whole_dataset_and_the_selection(traces: Path):
    run = carob.run(traces, golden=DATASET, metrics="exact_match", tags="hours", limit=1)
    assert run.dataset
    assert run.dataset.digest == dataset_digest(DATASET)
    assert run.selection == CaseSelection(tags=("hours",), limit=1, total=3)
    assert not carob.run(traces, golden=DATASET, metrics="exact_match").selection


def test_thresholds_and_parameters_are_numbers_and_values(traces: Path):
    run = carob.run(
        traces,
        golden=DATASET,
        metrics="response_match_score",
        thresholds={"response_match_score": 0.3},
    )
    assert [metric.threshold for metric in run.metrics] == [0.3]
    run = carob.run(
        traces,
        golden=DATASET,
        metrics="exact_match",
        params={"exact_match.ignore_case": True},
    )
    assert run.metrics[0].params["ignore_case"] is True


def test_run_is_broken_down_by_any_metadata(traces: Path):
    run = carob.run(traces, golden=DATASET, metrics="exact_match", by=["area", "level"])
    groups = {(group.by, group.value): group.cases.total for group in run.summary.groups}
    assert groups == {
        ("tag", "hours"): 2,
        ("area", "a"): 2,
        ("area", "b"): 1,
        ("level", "1"): 1,
        ("level", "2"): 2,
    }
    assert run.id == carob.run(traces, golden=DATASET, metrics="exact_match").id


def test_property_that_no_selected_case_has_is_an_error(traces: Path):
    with pytest.raises(UsageError, match="cannot break down by 'ara': no case has it") as caught:
        carob.run(traces, golden=DATASET, metrics="exact_match", by="ara")
    assert caught.value.hint == "did you mean 'area'?"
    with pytest.raises(UsageError, match="cannot break down by 'agent'"):
        carob.run(traces, golden=DATASET, metrics="exact_match", by="agent")


@pytest.mark.parametrize("conditions", [{"cases": ["open"]}, {"by": ["tag"]}])
def test_selecting_cases_requires_golden_data(traces: Path, conditions: dict[str, list[str]]):
    with pytest.raises(UsageError, match="without golden data"):
        evaluate(RunRequest(traces=[traces], save=False, **conditions))  # pyright: ignore[reportArgumentType] - fields of a request


@pytest.mark.parametrize("conditions", [{"limit": 0}, {"where": "metadata.level ="}, {"where": ""}])
def test_invalid_conditions_are_errors_before_a_file_is_read(conditions: dict[str, object]):
    with pytest.raises(UsageError, match="invalid"):
        make_selection(**conditions)  # pyright: ignore[reportArgumentType] - invalid on purpose
