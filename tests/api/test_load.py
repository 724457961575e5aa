from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

import carob
from carob.api.load import as_list, dataset_files
from carob.errors import InputError, UsageError
from carob.schema import Problem


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def test_single_name_is_not_a_list_of_letters():
    assert as_list("abc") == ["abc"]
    assert as_list(Path("abc")) == [Path("abc")]
    assert as_list(("a", "b")) == ["a", "b"]
    assert [report.path for report in carob.validate("support.csv")] == ["support.csv"]
    assert carob.Case.of("Hello", tags="shop").tags == ("shop",)


def test_subset_is_evaluated_without_a_file():
    part = carob.load("support.evalset.json").subset(lambda case: case.id == "opening_hours")
    run = carob.run("traces/good.otlp.jsonl", golden=part, metrics="response_match_score")
    assert [(result.case, result.status) for result in run.cases] == [("opening_hours", "passed")]


def test_duplicate_case_ids_are_an_error():
    case = carob.Case.of("Hello", "Hi", id="a")
    twice = carob.Dataset(name="shop", cases=[case, carob.Case.of("Bye", "Bye", id="a")])
    with pytest.raises(carob.CarobError, match="duplicate case id 'a' in shop"):
        carob.run("traces/good.otlp.jsonl", golden=twice)


def test_a_folder_stands_for_its_golden_files(tmp_path: Path):
    folder = tmp_path / "golden"
    folder.mkdir()
    for name in ("support.csv", "support_golden.json"):
        shutil.copy(name, folder)
    (folder / "support.csv.carob.json").write_text("{}")
    (folder / "broken.json").write_text('{"examples": [')
    (folder / "test_config.json").write_text('{"criteria": {}}')
    (folder / "README.md").write_text("Golden data")
    (folder / ".hidden.json").write_text("{}")
    (folder / "emptied.json").touch()
    (folder / "twice.csv").write_text("Input,Input\na,b\n")
    skipped: list[Problem] = []
    names = [file.name for file in dataset_files(folder, skipped.append)]
    broken = ["broken.json", "emptied.json", "twice.csv"]
    assert sorted(names) == [*broken[:2], "support.csv", "support_golden.json", broken[2]]
    assert [Path(problem.where).name for problem in skipped] == ["test_config.json"]
    assert [report.valid for report in carob.validate(folder)] == [
        name not in broken for name in names
    ]


def test_where_one_dataset_is_needed_a_folder_is_refused_with_its_names(tmp_path: Path):
    folder = tmp_path / "golden"
    folder.mkdir()
    with pytest.raises(InputError, match="golden: no golden data in this folder"):
        carob.load(folder)
    shutil.copy("support.csv", folder)
    shutil.copy("support_golden.json", folder)
    for use in (
        lambda: carob.load("golden"),
        lambda: carob.summarise("golden"),
        lambda: carob.convert("golden", "new.json", to="adk"),
        lambda: carob.run("traces/good.otlp.jsonl", golden="golden"),
    ):
        with pytest.raises(UsageError, match="golden: found a folder with 2 datasets") as caught:
            use()
        assert caught.value.hint == "pass one of: golden/support.csv, golden/support_golden.json"


def test_a_folder_of_traces_is_one_input(tmp_path: Path):
    history = Path(__file__).parents[1] / "samples" / "adk-history"
    shutil.copytree(history, tmp_path / ".adk" / "eval_history")
    traces = [trace.id for trace in carob.read_traces(".adk/eval_history")]
    assert sorted(traces) == ["s-1", "s-2", "s-9"]
    run = carob.run(".adk/eval_history", metrics="latency")
    assert len(run.cases) == 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: no files in this folder"):
        carob.run("empty")
