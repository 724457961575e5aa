from __future__ import annotations

from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.merge import combine_batches, merge_batches
from carob.runner.plan import Plan
from carob.schema import Case, CaseResult, JudgeUsage, Trace, UnmatchedTrace


def batch(number: int, unmatched: int = 0) -> BatchResult:
    return BatchResult(
        results=(CaseResult(f"c{number}", f"t{number}", "passed"),),
        unmatched=tuple(UnmatchedTrace(f"u{number}", "no case") for _ in range(unmatched)),
        only_unmatched=Trace(id=f"u{number}") if unmatched == 1 else None,
        usage={"judge": JudgeUsage(calls=number)},
    )


def test_batches_are_combined_in_their_order():
    combined = combine_batches([batch(2), batch(1)])
    assert [result.case for result in combined.results] == ["c2", "c1"]
    assert combined.usage["judge"].calls == 3
    assert (combined.unmatched, combined.only_unmatched) == ((), None)


def test_unmatched_trace_is_the_only_one_of_all_batches_or_none():
    one = combine_batches([batch(1), batch(2, unmatched=1)])
    assert one.only_unmatched == Trace(id="u2")
    several = combine_batches([batch(1, unmatched=1), batch(2, unmatched=1)])
    assert several.only_unmatched is None
    assert [trace.trace for trace in several.unmatched] == ["u1", "u2"]


def test_merged_batches_are_in_the_order_of_the_dataset_whichever_came_first():
    job = ScoringJob(plan=Plan(metrics=()), cases=[Case(id=f"c{number}") for number in range(3)])
    merged = merge_batches(job, [(0, batch(2)), (1, batch(1, unmatched=2))])
    assert [(result.case, result.status) for result in merged.results] == [
        ("c0", "info"),
        ("c1", "passed"),
        ("c2", "passed"),
    ]
    assert [trace.trace for trace in merged.unmatched] == ["u1", "u1"]


def test_results_of_the_same_trace_are_in_the_order_of_their_batches():
    job = ScoringJob(plan=Plan(metrics=()), cases=[Case(id="c1")])
    first, second = (
        BatchResult(results=(CaseResult("c1", "t1", status),)) for status in ("passed", "failed")
    )
    merged = merge_batches(job, [(1, second), (0, first)])
    assert [result.status for result in merged.results] == ["passed", "failed"]


def test_only_trace_of_all_batches_is_scored_with_the_only_case():
    job = ScoringJob(plan=Plan(metrics=()), cases=[Case(id="c1")])
    lone = BatchResult(unmatched=(UnmatchedTrace("u", "no case"),), only_unmatched=Trace(id="u"))
    scored: list[BatchResult] = []

    def score(batch: Batch) -> BatchResult:
        scored.append(job.score(batch))
        return scored[-1]

    for merged in (merge_batches(job, [(0, lone)]), merge_batches(job, [(0, lone)], score)):
        assert [(result.case, result.trace) for result in merged.results] == [("c1", "u")]
        assert merged.unmatched == ()
    assert len(scored) == 1
