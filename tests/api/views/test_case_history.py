"""One case over the runs of its dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.views.case_history import case_history, recent_verdicts
from tests.browser.workspace import SHOP, golden_cases, run_of, write_golden


@pytest.fixture
def store(tmp_path: Path) -> str:
    store = str(tmp_path / "carob.db")
    cases = golden_cases()[:4]
    write_golden(tmp_path, cases)
    run_of(tmp_path, store, cases, (), "1.0")
    run_of(tmp_path, store, cases, ["late_frost"], "1.1")
    run_of(tmp_path, store, cases[1:2], (), "1.2")
    return store


def test_last_verdicts_are_oldest_first_and_survive_a_run_of_some_cases(store: str):
    recent = recent_verdicts(SHOP, ["late_frost", "opening_hours"], store=store)
    assert recent["late_frost"] == ("passed", "failed", "passed")
    assert recent["opening_hours"][:2] == ("passed", "passed")


def test_past_results_are_newest_first(store: str):
    past = case_history(SHOP, "late_frost", store=store)
    assert [entry.result.status for entry in past] == ["passed", "failed", "passed"]
    assert [entry.run.labels["release"] for entry in past] == ["1.2", "1.1", "1.0"]


def test_unknown_case_and_missing_store_have_no_history(store: str, tmp_path: Path):
    assert case_history(SHOP, "nobody", store=store) == []
    assert recent_verdicts(SHOP, ["x"], store=str(tmp_path / "none.db")) == {}
