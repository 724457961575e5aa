from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import msgspec
import pytest

from carob.analysis.summary import summarise, verdict
from carob.api.store import save_run
from carob.api.views.case import view_case
from carob.api.views.run import view_rows
from carob.api.views.run_index import CaseFilter
from carob.schema import CaseResult, CaseScore, MetricSpec, Run, RunDataset, Status

TOOLS = MetricSpec(
    name="tool_recall", version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
)
STATUSES: tuple[Status, ...] = ("passed", "failed", "unscored", "error")
DATASET = RunDataset(name="garden", version=None, digest="sha256:00", format="csv")


def make_result(case: str, status: Status, value: float, reason: str = "") -> CaseResult:
    return CaseResult(case, "t", status, (CaseScore(TOOLS.name, status, value, 0.5, reason),))


def save(folder: Path, results: Sequence[CaseResult]) -> str:
    summary = summarise(results, {})
    run = Run(
        id="run-000000000000000a",
        created_at="2026-03-02T08:00:00Z",
        verdict=verdict(summary),
        dataset=DATASET,
        metrics=(TOOLS,),
        cases=tuple(results),
        summary=summary,
    )
    save_run(run, store=str(folder / "carob.db"))
    return str(folder / "carob.db")


def names(store: str, wanted: CaseFilter) -> list[str]:
    view = view_rows("latest", wanted, start=0, limit=1000, store=store)
    assert view.matched == len(view.lines)
    return [line.result.case or "" for line in view.lines]


def make_results(attempts: int) -> list[CaseResult]:
    chance = random.Random(7)  # noqa: S311 - test data
    return [
        make_result(f"case-{n}", chance.choice(STATUSES), chance.choice((0.1, 0.2, 0.9)))
        for n in range(40)
        for _ in range(attempts)
    ]


@pytest.mark.parametrize("attempts", [1, 3])
def test_neighbours_of_a_case_are_those_of_the_filtered_table(tmp_path: Path, attempts: int):
    store = save(tmp_path, make_results(attempts))
    for status, order in product((None, *STATUSES), ("worst", "dataset")):
        wanted = CaseFilter(status=status, order=order)
        table = list(dict.fromkeys(names(store, wanted)))
        for place, case in enumerate(table):
            around = view_case("latest", case, wanted=wanted, store=store).neighbours
            assert (around.position, around.total) == (place + 1, len(table))
            assert around.previous == (table[place - 1] if place else None)
            assert around.next == (table[place + 1] if place + 1 < len(table) else None)


def test_neighbours_without_a_filter_are_the_cases_that_did_not_pass(tmp_path: Path):
    results = make_results(1)
    store = save(tmp_path, results)
    bad = sum(result.status != "passed" for result in results)
    for result in results:
        around = view_case("latest", result.case or "", store=store).neighbours
        assert around.total == (len(results) if result.status == "passed" else bad)


def test_case_that_the_filter_does_not_select_has_the_first_row_as_next(tmp_path: Path):
    results = [make_result("a", "passed", 1), make_result("b", "failed", 0)]
    store = save(tmp_path, [*results, make_result("c", "failed", 0.1)])
    around = view_case("latest", "a", wanted=CaseFilter(status="failed"), store=store).neighbours
    assert around == (None, "b", 0, 2)


def test_status_selects_the_same_rows_in_both_orders(tmp_path: Path):
    results = make_results(1)
    store = save(tmp_path, results)
    for status in STATUSES:
        expected = [result.case for result in results if result.status == status]
        assert names(store, CaseFilter(status=status, order="dataset")) == expected
        assert sorted(names(store, CaseFilter(status=status))) == sorted(filter(None, expected))


def test_text_is_searched_in_values_and_not_in_names_of_fields(tmp_path: Path):
    store = save(
        tmp_path,
        [
            make_result("a", "failed", 0, "expected Grüße, got nothing"),
            make_result("b", "failed", 0, 'said "threshold" twice\nand left'),
            make_result("c", "passed", 1),
        ],
    )
    assert names(store, CaseFilter(text="GRÜSSE")) == ["a"]
    assert names(store, CaseFilter(text="nothing expected")) == ["a"]
    assert names(store, CaseFilter(text="threshold")) == ["b"]
    assert names(store, CaseFilter(text='"threshold" and')) == ["b"]
    assert names(store, CaseFilter(text="reason")) == []
    assert names(store, CaseFilter(text="threshold", status="passed")) == []


def test_tag_is_looked_up_again_after_the_golden_data_changed(tmp_path: Path):
    store = save(tmp_path, [make_result("a", "passed", 1), make_result("b", "passed", 1)])
    golden = tmp_path / "garden.json"
    found: list[list[str]] = []
    for tagged in ("a", "b"):
        cases = [{"id": n, "question": n, "tags": ["new"] if n == tagged else []} for n in "ab"]
        golden.write_bytes(msgspec.json.encode({"name": "garden", "questions": cases}))
        view = view_rows(
            "latest", CaseFilter(tag="new"), start=0, limit=9, golden=tmp_path, store=store
        )
        found.append([line.result.case or "" for line in view.lines])
    assert found == [["a"], ["b"]]
