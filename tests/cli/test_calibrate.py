from __future__ import annotations

import json
import shutil
import sys
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from carob.api.running.assemble import assemble_run
from carob.cli import carob
from carob.errors import EvaluationError, FormatError, InputError, UsageError, install_hint
from carob.schema import Run
from tests.api.judging import install

RUN, LABELS = "judged/tone.run.json", "judged/tone.labels.csv"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")


def call(*args: str) -> Result:
    return CliRunner().invoke(carob, [*args])


def calibrated(*args: str) -> Result:
    return call("calibrate", LABELS, "--run", RUN, *args)


def test_judge_that_agrees_with_humans_is_calibrated():
    result = calibrated()
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "tone (local:shop-judge.gguf) agrees with humans on 29 of 34 cases; kappa 0.88 ("
    )


def test_exit_code_depends_on_the_lower_bound_of_kappa():
    assert calibrated("--min-kappa", "0.6").exit_code == 0
    assert calibrated("--min-kappa", "0.8").exit_code == 1
    Path("carob.toml").write_text("[gate]\nmin_kappa = 0.8\n")
    assert calibrated().exit_code == 1
    assert calibrated("--min-kappa", "0").exit_code == 0


def test_calibration_is_one_json_document_and_the_same_every_time():
    first, second = calibrated("--format", "json"), calibrated("--format", "json", "--no-store")
    assert first.stdout == second.stdout
    document = json.loads(first.stdout)
    assert document["schema"] == "carob.calibration/1"
    assert document["metric"]["judge"]["model"] == "local:shop-judge.gguf"
    assert document["agreement"]["kind"] == "levels"
    assert document["created_at"] == "2026-05-28T20:26:40Z"
    assert document["disagreements"][0]["case"] == "return_too_late"


def test_calibration_is_saved_unless_no_store_is_given():
    calibrated("--no-store")
    assert not Path(".carob").exists()
    calibrated()
    assert "1 blob checked)" in call("store", "verify").stdout


def test_stored_run_can_be_calibrated():
    call("store", "import", RUN)
    assert call("calibrate", LABELS, "--run", "latest").exit_code == 0


def test_without_a_run_the_judge_scores_the_labeled_answers(monkeypatch: pytest.MonkeyPatch):
    model = install(monkeypatch)
    Path("labels.csv").write_text("case,label\nwarranty_frame,fail\nrepair_brake,fail\n")
    result = call(
        "calibrate",
        "labels.csv",
        "traces/good.otlp.jsonl",
        *("--golden", "support.evalset.json", "-m", "test_tone", "--judge", "local:scripted"),
    )
    assert len(model.requests) == 2
    assert "test_tone (local:scripted) agrees with humans on 2 of 2 cases" in result.stdout
    assert result.exit_code == 1
    assert "kappa is undefined" in result.stdout


@pytest.mark.parametrize(
    "more",
    [
        ("traces/good.otlp.jsonl",),
        ("--golden", "support.evalset.json"),
        ("--judge", "local:other"),
        ("--max-calls", "4"),
    ],
)
def test_run_cannot_be_combined_with_traces_or_judges(more: tuple[str, ...]):
    result = calibrated(*more)
    assert result.exit_code == 2
    assert "--run cannot be combined with" in result.stderr


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ("case,label\norder_status,9\n", FormatError, "line 2: label is 9, expected"),
        ("case,label\norder_status,fine\n", FormatError, "line 2: label: expected a number"),
        ("case,label,metric\norder_status,4,tome\n", UsageError, "line 2: metric is 'tome'"),
        ("case,label\nunknown,4\n", EvaluationError, "none of the labelled answers"),
        ("case,label\nspam,4\n", EvaluationError, "tone scored none of the 1 labelled answers"),
        ("case|label\na|4\n", FormatError, "missing column 'case'"),
        ("", InputError, "the file is empty"),
    ],
)
def test_invalid_labels_are_errors(labels: str, error: type[Exception], message: str):
    Path("labels.csv").write_text(labels)
    result = call("calibrate", "labels.csv", "--run", RUN)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


def test_missing_run_is_an_error():
    assert isinstance(call("calibrate", LABELS, "--run", "none.json").exception, InputError)


def test_without_numpy_a_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    result = calibrated()
    assert isinstance(result.exception, UsageError)
    assert result.exception.hint == install_hint("stats")


def test_calibration_that_cannot_be_saved_is_still_printed():
    Path("store.db").write_text("no database")
    result = calibrated("--store", "store.db")
    assert result.exit_code == 0
    assert "the calibration was not saved" in result.stderr


def gate(*args: str) -> Result:
    return call("gate", RUN, "--allow-unscored", *args)


def test_gate_finds_a_required_calibration_in_the_store():
    assert gate("--require-calibration").exit_code == 1
    calibrated()
    result = gate("--require-calibration")
    assert result.exit_code == 0
    assert "passed  calibration of tone: kappa 0.88 over 34 cases" in result.stdout


def test_gate_finds_it_in_a_file():
    calibrated("--no-store", "--format", "json", "-o", "tone.json")
    assert gate("--calibration", "tone.json").exit_code == 0
    assert gate("--calibration", "tone.json", "--min-kappa", "0.8").exit_code == 1
    Path("carob.toml").write_text('[gate]\ncalibrations = ["tone.json"]\nmin_kappa = 0.5\n')
    assert gate().exit_code == 0


def test_calibration_file_takes_precedence_over_the_store():
    calibrated()
    Path("few.csv").write_text("case,label\norder_status,5\ninsult,1\n")
    call("calibrate", "few.csv", "--run", RUN, "--no-store", "--format", "json", "-o", "few.json")
    assert gate("--require-calibration").exit_code == 0
    assert gate("--calibration", "few.json").exit_code == 1


def test_calibration_that_was_edited_is_an_error():
    calibrated("--no-store", "--format", "json", "-o", "tone.json")
    text = Path("tone.json").read_text()
    Path("tone.json").write_text(text.replace('"cases": 34', '"cases": 340'))
    result = gate("--calibration", "tone.json")
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith("tone.json: the digest is 'sha256:")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "local:shop-judge.gguf",
            "local:new.gguf",
            "the run used local:new.gguf: calibrate again",
        ),
        ("a7a7", "b8b8", "calibrated with a different rubric: calibrate again"),
        ("5d5d", "6e6e", "calibrated with a different prompt: calibrate again"),
    ],
)
def test_another_judge_must_be_calibrated_again(before: str, after: str, message: str):
    calibrated()
    moved = msgspec.json.decode(Path(RUN).read_text().replace(before, after), type=Run)
    moved = assemble_run(moved.dataset, moved.metrics, moved.cases, {})
    Path("moved.json").write_bytes(msgspec.json.encode(moved))
    result = call("gate", "moved.json", "--require-calibration", "--allow-unscored")
    assert result.exit_code == 1
    assert message in result.stdout


@pytest.mark.parametrize("text", ['calibrations = ["../x.json"]', "min_kappa = 'much'"])
def test_mistake_in_the_rules_is_an_error(text: str):
    Path("carob.toml").write_text(f"[gate]\n{text}\n")
    assert isinstance(gate().exception, FormatError)


def test_missing_calibration_file_is_an_error():
    result = gate("--calibration", "none.json")
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == "none.json: cannot be read: No such file or directory"
