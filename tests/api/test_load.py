from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

import carob
from carob.api.load import as_list


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
