from __future__ import annotations

from carob.runner.job import BatchResult
from carob.runner.merge import combine_batches
from carob.schema import CaseResult, JudgeUsage, Trace, UnmatchedTrace


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
