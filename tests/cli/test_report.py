from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from carob.api.datasets import save
from carob.api.load import load
from carob.api.review import create_queue, label_item
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.cli import carob
from carob.errors import CarobError, NotFoundError, RefusedError, UsageError


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CAROB_STORE", raising=False)
    Path("golden").mkdir()
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copy(data / "support.evalset.json", "golden")
        shutil.copy(data / "traces" / "regressed.otlp.jsonl", "traces.jsonl")
    metrics = ("tool_trajectory_avg_score", "response_match_score")
    golden = Path("golden/support.evalset.json")
    evaluate(
        RunRequest(traces=[Path("traces.jsonl")], golden=golden, metrics=metrics, config=NO_CONFIG)
    )


def call(*args: str) -> Result:
    result = CliRunner().invoke(carob, args)
    if isinstance(result.exception, CarobError):
        raise result.exception
    return result


def report(*args: str) -> str:
    result = call("report", "latest", *args)
    assert result.exit_code == 0, result.output
    return result.stdout


def cases(*args: str) -> list[str]:
    items = json.loads(report("--format", "json", *args))["items"]
    return [item["case"] for item in items]


@pytest.mark.parametrize("status", ["failed", "passed", "unscored", "error"])
def test_status_selects_the_cases_of_the_run_with_it(status: str):
    run = json.loads(report("--format", "json"))
    expected = {item["case"] for item in run["cases"] if item["status"] == status}
    assert set(cases("--status", status)) == expected


def test_selected_cases_follow_the_verdict_of_the_whole_run():
    first, _, number, *_ = report("--status", "failed").splitlines()
    assert first == report().splitlines()[0]
    assert number == f"{len(cases('--status', 'failed'))} of 9 cases"


def test_case_is_shown_with_all_of_its_scores():
    text = report("--case", "return_too_late")
    assert "\nfailed return_too_late  (" in text
    assert "\n  tool_trajectory_avg_score " in text
    assert "\n  response_match_score " in text
    assert text.count("  (trace ") == 1


def test_filters_are_combined():
    both = cases("--status", "failed", "--metric", "tool_trajectory_avg_score")
    text = cases("--text", "I WANT to give")
    assert set(both) >= set(text) == {"return_too_late"}
    assert cases("--cause", "missing call:check_warranty", "--status", "passed") == []
    assert len(cases("--cause", "missing call:check_warranty")) == 1


def test_order_is_the_worst_first_or_that_of_the_dataset():
    run = json.loads(report("--format", "json"))
    in_order = [item["case"] for item in run["cases"]]
    assert cases("--sort", "dataset") == in_order
    assert cases("--sort", "worst") != in_order
    assert set(cases("--sort", "worst")) == set(in_order)


def test_tags_are_read_from_the_golden_data():
    golden = Path("golden/support.evalset.json")
    dataset = load(golden)
    first = msgspec.structs.replace(dataset.cases[0], tags=("Workshop",))
    tagged = msgspec.structs.replace(dataset, cases=[first, *dataset.cases[1:]])
    save(tagged, golden, format="adk")
    assert cases("--tag", "workshop") == [first.id]
    assert cases("--tag", "no-such-tag") == []
    golden.rename("elsewhere.json")
    assert cases("--tag", "workshop", "-g", "elsewhere.json") == [first.id]
    with pytest.raises(NotFoundError, match=r"the golden data of run-\w+ was not found"):
        cases("--tag", "workshop")


def test_csv_has_the_rows_of_the_selected_cases():
    rows = list(csv.DictReader(io.StringIO(report("--status", "failed", "--format", "csv"))))
    assert {row["status"] for row in rows} == {"failed"}
    assert list(dict.fromkeys(row["case"] for row in rows)) == cases("--status", "failed")


@pytest.mark.parametrize("form", ["html", "md", "junit", "sarif"])
def test_format_of_whole_runs_refuses_a_filter(form: str):
    with pytest.raises(UsageError, match=f"--format {form} shows whole runs"):
        report("--status", "failed", "--format", form)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--case", "return_to_late"], "did you mean 'return_too_late'?"),
        (["--metric", "response_match_scor"], "did you mean 'response_match_score'?"),
        (["--cause", "missing:refund"], "missing call, unexpected call"),
    ],
)
def test_misspelt_filter_is_an_error(arguments: Sequence[str], hint: str):
    with pytest.raises((NotFoundError, UsageError)) as error:
        report(*arguments)
    assert hint in str(error.value.hint)


def test_some_failures_are_captured():
    Path("empty.csv").write_text("id,question,answer\nother,Where are you?,In the harbour.\n")
    some = ("--golden", "empty.csv", "--case", "repair_brake", "--case", "return_too_late")
    call("capture", "--failed", "latest", *some, "some.json")
    call("capture", "--failed", "latest", "--golden", "empty.csv", "all.json")
    assert len(load("some.json").cases) == 2 < len(load("all.json").cases)
    with pytest.raises(NotFoundError, match="has no case 'nobody'"):
        call("capture", "--failed", "latest", "--case", "nobody", "none.json")
    assert "--case requires --failed" in call("capture", "--case", "x", "in", "out").stderr


def test_runs_are_listed_by_verdict_and_words():
    def listed(*args: str) -> list[str]:
        return [
            run["id"] for run in json.loads(call("runs", "--format", "json", *args).stdout)["runs"]
        ]

    (run,) = listed()
    assert listed("--verdict", "failed") == listed("--text", "BIKE shop") == [run]
    assert listed("--verdict", "passed") == listed("--text", "bike flower") == []
    call(
        "run", "traces.jsonl", "--golden", "golden/support.evalset.json", "-m", "tool_success_rate"
    )
    newest, oldest = listed()
    assert listed("--sort", "worst") == [oldest, newest]


def test_labels_of_a_review_queue_are_compared_with_the_metric():
    queue = create_queue("latest", "response_match_score")
    command = ("calibrate", "--queue", queue.id, "--format", "json", "--no-store")
    with pytest.raises(RefusedError, match="there are no labels"):
        call(*command)
    for place in (0, 1):
        label_item(queue.id, place, "passed", by="Mara")
    calibration = json.loads(call(*command).stdout)
    assert calibration["metric"]["name"] == "response_match_score"
    assert calibration["agreement"]["cases"] == 2
    assert "--queue has its own labels" in call("calibrate", "x.csv", "--queue", "y").stderr
    assert "Missing argument 'LABELS'" in call("calibrate").stderr
