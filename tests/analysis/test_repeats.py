from __future__ import annotations

from itertools import combinations

import pytest

from carob.analysis.repeats import (
    attempt_summary,
    count_attempts,
    is_flaky,
    pass_all,
    pass_at,
    reliability,
)
from carob.schema import AttemptCounts, CaseResult, Status


def attempts(passed: int, total: int) -> AttemptCounts:
    return AttemptCounts(passed=passed, total=total)


def test_pass_at_k_matches_manual_calculation():
    assert pass_at(2, attempts(1, 3)) == pytest.approx(2 / 3)
    assert pass_all(2, attempts(2, 3)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_estimators_are_shares_of_all_selections(k: int):
    chosen = [*combinations([True, True, False, False, False], k)]
    any_passes = sum(map(any, chosen)) / len(chosen)
    all_pass = sum(map(all, chosen)) / len(chosen)
    assert pass_at(k, attempts(2, 5)) == pytest.approx(any_passes)
    assert pass_all(k, attempts(2, 5)) == pytest.approx(all_pass)


def test_reliability_is_listed_for_doubling_k_up_to_the_attempts_of_both_runs():
    rows = reliability({(attempts(5, 5), attempts(3, 6)): 1, (attempts(0, 2), attempts(1, 2)): 1})
    assert [(row.k, row.cases) for row in rows] == [(1, 2), (2, 2), (4, 1), (5, 1)]
    assert rows[0].any_passes == rows[0].all_pass == (0.5, 0.5)
    assert rows[3].all_pass == (1.0, 0.0)


def test_without_repeats_there_is_no_reliability():
    assert reliability({(attempts(1, 1), attempts(0, 1)): 1}) == ()
    assert reliability({}) == ()


def test_every_case_counts_once_in_the_reliability():
    tally = {(attempts(2, 2), attempts(0, 2)): 3, (attempts(0, 2), attempts(0, 2)): 1}
    assert [row.any_passes for row in reliability(tally)] == [(0.75, 0.0), (0.75, 0.0)]


def test_case_with_different_outcomes_is_flaky():
    assert is_flaky(attempts(1, 3))
    assert not is_flaky(attempts(3, 3))
    assert not is_flaky(attempts(0, 3))


def test_run_with_repeats_has_rates_and_flaky_cases():
    summary = attempt_summary({"a": attempts(1, 2), "b": attempts(2, 2), "c": attempts(0, 1)})
    assert summary is not None
    assert [(rate.k, rate.cases, rate.any_passes, rate.all_pass) for rate in summary.rates] == [
        (1, 3, 0.5, 0.5),
        (2, 2, 1.0, 0.5),
    ]
    assert summary.flaky == {"a": (1, 2)}
    assert attempt_summary({"a": attempts(1, 1)}) is None
    assert attempt_summary({}) is None


def test_only_attempts_with_a_verdict_are_counted():
    statuses: tuple[Status, ...] = ("passed", "failed", "failed", "error", "unscored", "info")
    results = [CaseResult("a", "t", status) for status in statuses]
    assert count_attempts(results) == attempts(1, 3)
