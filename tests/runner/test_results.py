from __future__ import annotations

import random

import pytest

from carob.runner.results import ResultKey, ResultSorter
from carob.schema import CaseResult
from carob.schema.codec import RESULTS

KEYS = [ResultKey(position, f"t{trace}", 0, trace) for position in range(9) for trace in range(5)]


def result(key: ResultKey) -> CaseResult:
    return CaseResult(case=f"c{key.position}", trace=key.trace, status="passed")


def sort(in_memory: int, *, encoded: bool = False) -> list[CaseResult]:
    sorter = ResultSorter(in_memory)
    shuffled = random.Random(1).sample(KEYS, len(KEYS))  # noqa: S311 - not a secret
    for key in shuffled:
        sorter.add(key, RESULTS.encode(result(key)) if encoded else result(key))
    try:
        return [
            RESULTS.decode(item) if isinstance(item, bytes) else item for _, item in iter(sorter)
        ]
    finally:
        sorter.close()


def test_order_does_not_depend_on_where_results_are_sorted():
    expected = [result(key) for key in KEYS]
    assert sort(1000) == expected
    assert sort(4) == expected
    assert sort(4, encoded=True) == expected


def test_many_sorted_runs_are_merged_step_by_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carob.runner.results._MAX_RUNS", 3)
    assert sort(1) == [result(key) for key in KEYS]
