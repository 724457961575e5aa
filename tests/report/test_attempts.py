"""Repeated attempts are in every report: pass@k, pass^k and the flaky cases."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree

import pytest

import carob
from carob import Case, Dataset, Turn
from carob.report.forms import RUN_FORMS, ReportInputs, format_report
from carob.schema import Run

# Two of four attempts at `hose` pass: pass@1 0.5, pass^1 0.5, pass@2 1 - 1/6, pass^2 1/6, and
# `rake` always passes, so that the means are 0.75, 0.75, 0.917 and 0.583.
MEANS = {"pass@1": "0.75", "pass^1": "0.75", "pass@2": "0.917", "pass^2": "0.583"}


@pytest.fixture(scope="module")
def run() -> Run:
    asked: dict[str, int] = {}

    def answer(message: str) -> str:
        asked[message] = asked.get(message, 0) + 1
        return "19" if message == "hose?" and asked[message] % 2 else message[:4]

    cases = [
        Case(id="hose", turns=(Turn(user="hose?", response="19"),)),
        Case(id="rake", turns=(Turn(user="rake?", response="rake"),)),
    ]
    return carob.run(
        golden=Dataset(name="garden", cases=cases),
        target=answer,
        metrics="exact_match",
        repeat=4,
        concurrency=1,
    )


def report(run: Run, form: str) -> str:
    lines = {"hose": ("golden.json", 3), "rake": ("golden.json", 9)}
    return format_report(form, ReportInputs(run, load_case_lines=lambda: lines))


@pytest.mark.parametrize("form", RUN_FORMS)
def test_every_report_has_the_rates_and_the_flaky_cases(run: Run, form: str):
    text = report(run, form)
    assert "hose" in text
    if form in ("json", "summary", "agents"):
        document = json.loads(text)
        attempts = document.get("repeated_attempts") or document["summary"]["attempts"]
        assert attempts["rates"][1]["any_passes"] == pytest.approx(11 / 12)
        assert attempts["flaky"] == {"hose": [2, 4]}
    elif form != "csv":
        assert all(rate in text for rate in MEANS.values())
        assert "2 of 4" in text


def test_junit_has_them_as_properties(run: Run):
    suite = ElementTree.fromstring(report(run, "junit"))[0]  # noqa: S314 - we read what we wrote
    properties = {item.get("name"): item.get("value") for item in suite[0]}
    assert MEANS.items() <= properties.items()
    assert properties["flaky: hose"] == "2 of 4 passed"
    assert "flaky: rake" not in properties


def test_sarif_has_a_note_and_a_warning_at_the_flaky_case(run: Run):
    (log,) = json.loads(report(run, "sarif"))["runs"]
    (note,) = log["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert "pass@2 0.917, pass^2 0.583" in note["message"]["text"]
    (flaky,) = [result for result in log["results"] if result["ruleId"] == "flaky"]
    place: dict[str, Any] = flaky["locations"][0]["physicalLocation"]
    assert (flaky["level"], place["region"]["startLine"]) == ("warning", 3)
    assert flaky["message"]["text"] == "hose: 2 of 4 attempts passed"
    assert log["tool"]["driver"]["rules"][flaky["ruleIndex"]]["id"] == "flaky"


def test_csv_has_them_for_each_case(run: Run):
    rows = list(csv.DictReader(io.StringIO(report(run, "csv"))))
    assert len(rows) == 8
    hose = next(row for row in rows if row["case"] == "hose")
    assert (hose["attempts"], hose["attempts_passed"], hose["flaky"]) == ("4", "2", "true")
    assert float(hose["pass@2"]) == pytest.approx(5 / 6)
    assert float(hose["pass^2"]) == pytest.approx(1 / 6)
    assert next(row for row in rows if row["case"] == "rake")["pass^4"] == "1.0"


def test_csv_of_single_attempts_is_as_before():
    case = Case(id="a", turns=(Turn(user="hi", response="hi"),))
    single = carob.run(
        golden=Dataset(name="d", cases=[case]), target=str.lower, metrics="exact_match"
    )
    head = report(single, "csv").splitlines()[0]
    assert head == "case,trace,status,metric,score_status,value,threshold,reason"
