from __future__ import annotations

from pathlib import Path

import msgspec

from carob.analysis.summary import summarise, verdict
from carob.api.history import list_runs
from carob.api.run_before import count_flips
from carob.api.run_view import view_run
from carob.api.store import save_run
from carob.schema import CaseCounts, CaseResult, CaseScore, MetricSpec, Run, RunDataset

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


def test_flips_are_counted_only_in_runs_of_a_size_for_pages(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    for id, value in (("run-000000000000000c", 1.0), ("run-000000000000000d", 0.0)):
        save_run(make_run(id, value), store=store)
    run, before = list_runs(store=store).runs
    assert count_flips(before, run, store=store) == 1
    large = msgspec.structs.replace(run, cases=CaseCounts(total=100_000, passed=100_000))
    assert count_flips(before, large, store=store) is None
