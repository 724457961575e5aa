from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

import carob

DATA = Path(carob.__file__).parent / "demo" / "data"
FORMATS = {
    "support.evalset.json": "adk",
    "support_golden.json": "questions",
    "support.examples.json": "examples",
    "support.csv": "csv",
    "support.explain.jsonl": "explain",
    "support.simulation.csv": "simulation",
}
_IDS = re.compile(r"\b(?:MB-\d{5}|R-\d{4}|W-\d{3}|HD7-\d{5})\b")


def _users(name: str) -> dict[str, list[str | None]]:
    return {case.id: [turn.user for turn in case.turns] for case in carob.load(DATA / name).cases}


@pytest.mark.parametrize(("name", "form"), FORMATS.items())
def test_each_file_is_valid_and_detected(name: str, form: str):
    (report,) = carob.validate([DATA / name])
    assert (report.format, report.valid) == (form, True)
    assert [problem for problem in report.problems if problem.severity != "note"] == []


def test_files_contain_the_same_conversations():
    conversations = _users("support_golden.json")
    assert _users("support.simulation.csv") == conversations
    scenario = _users("support.evalset.json")
    assert scenario.pop("impatient_customer") == []
    assert scenario == conversations


def test_single_turns_are_the_same_in_json_and_csv():
    single = sorted(users for users in _users("support_golden.json").values() if len(users) == 1)
    for name in ("support.examples.json", "support.csv"):
        assert sorted(_users(name).values()) == single


def test_expected_answer_is_the_same_in_every_file():
    golden = json.loads((DATA / "support_golden.json").read_text("utf-8"))["golden_questions"]
    answers = {item["id"]: item["reference_data"]["expected_response"] for item in golden}
    for line in (DATA / "support.explain.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        assert json.loads(row["reference_answer"])["answer"] == answers[row["scenario_id"]]
    for case in carob.load(DATA / "support.evalset.json").cases:
        assert not case.turns or case.turns[-1].response == answers[case.id]


def test_some_recorded_answers_are_right_and_some_wrong():
    with (DATA / "support.simulation.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = [json.loads(row["reference_data"]).get("expected_response") for row in rows]
    numbers = [
        _IDS.findall(row["final_response"]) == _IDS.findall(answer)
        for row, answer in zip(rows, expected, strict=True)
    ]
    assert any(numbers)
    assert not all(numbers)


@pytest.mark.parametrize("name", FORMATS)
def test_data_contains_no_real_people(name: str):
    text = (DATA / name).read_text("utf-8")
    assert re.findall(r"[\w.]+@(?!example\.com)[\w.]+", text) == []
    assert re.findall(r"\+?\d{3}[ /-]\d{3}[ /-]?\d{3,}", text) == []
