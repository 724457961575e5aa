from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from carob.analysis.summary import summarise, verdict
from carob.api.compare import compare
from carob.api.history import list_runs
from carob.api.store import save_run
from carob.api.views.run import view_run
from carob.api.views.run_before import count_flips
from carob.schema import CaseResult, CaseScore, MetricSpec, Run, RunDataset

TOOLS = MetricSpec(
    name="tool_recall", version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
)


def make_run(id: str, value: float) -> Run:
    status = "passed" if value >= 0.5 else "failed"
    results = (CaseResult("roses", "t", status, (CaseScore(TOOLS.name, status, value, 0.5),)),)
    summary = summarise(results, {})
    return Run(
        id=id,
        created_at="2026-03-02T08:00:00Z",
        verdict=verdict(summary),
        dataset=RunDataset(name="garden", version=None, digest="sha256:00", format="csv"),
        metrics=(TOOLS,),
        cases=results,
        summary=summary,
    )


def test_run_is_compared_with_the_one_before_even_within_a_second(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    for id, value in (("run-000000000000000a", 1.0), ("run-000000000000000b", 0.0)):
        save_run(make_run(id, value), store=store)
    assert view_run("run-000000000000000a", store=store).before is None
    before = view_run("run-000000000000000b", store=store).before
    assert before
    assert before.id == "run-000000000000000a"


def test_flips_of_two_small_runs_are_counted(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    for id, value in (("run-000000000000000c", 1.0), ("run-000000000000000d", 0.0)):
        save_run(make_run(id, value), store=store)
    run, before = list_runs(store=store).runs
    assert count_flips(before, run, store=store) == 1


def make_large_run(id: str, cases: int, failing: range, threshold: float = 0.5) -> Run:
    spec = msgspec.structs.replace(TOOLS, threshold=threshold)
    good = (CaseScore(TOOLS.name, "passed", 1.0, threshold),)
    bad = (CaseScore(TOOLS.name, "failed", 0.0, threshold),)
    results = tuple(
        CaseResult(f"case-{n}", "t", "failed", bad)
        if n in failing
        else CaseResult(f"case-{n}", "t", "passed", good)
        for n in range(cases)
    )
    base, summary = make_run(id, 1.0), summarise(results, {})
    return msgspec.structs.replace(
        base, cases=results, summary=summary, verdict=verdict(summary), metrics=(spec,)
    )


def count_stored(store: str, *runs: Run) -> Callable[[], int | None]:
    for run in runs:
        save_run(run, store=store)
    after, before = list_runs(store=store).runs
    return lambda: count_flips(before, after, store=store)


def test_flips_of_large_runs_are_those_of_the_comparison(tmp_path: Path):
    before = make_large_run("run-000000000000000a", 2_001, range(0, 900, 3))
    after = make_large_run("run-000000000000000b", 2_001, range(0, 900, 2))
    flips = count_stored(str(tmp_path / "carob.db"), before, after)()
    assert flips == len(compare(before, after).flips) == 450


def test_flips_of_very_large_runs_are_counted_in_the_background(tmp_path: Path):
    before = make_large_run("run-000000000000002a", 20_001, range(0, 900, 3))
    after = make_large_run("run-000000000000002b", 20_001, range(0, 900, 2))
    count = count_stored(str(tmp_path / "carob.db"), before, after)
    end = time.monotonic() + 30
    while (flips := count()) is None and time.monotonic() < end:
        time.sleep(0.02)
    assert flips == 450


def test_flips_of_large_runs_with_other_rules_are_not_counted(tmp_path: Path):
    before = make_large_run("run-000000000000000e", 2_001, range(3))
    after = make_large_run("run-000000000000000f", 2_001, range(9), threshold=0.9)
    assert count_stored(str(tmp_path / "carob.db"), before, after)() is None


def test_flips_of_large_runs_with_other_cases_are_not_counted(tmp_path: Path):
    before = make_large_run("run-000000000000001e", 2_002, range(3))
    after = make_large_run("run-000000000000001f", 2_001, range(9))
    assert count_stored(str(tmp_path / "carob.db"), before, after)() is None
