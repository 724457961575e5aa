from __future__ import annotations

from itertools import combinations

import pytest

from carob.analysis.repeats import count_attempts, flaky_cases, pass_all, pass_at, reliability
from carob.schema import AttemptCounts, CaseResult, Status


def made(passed: int, total: int) -> AttemptCounts:
    return AttemptCounts(passed=passed, total=total)


def test_one_of_two_out_of_three():
    assert pass_at(2, made(1, 3)) == pytest.approx(2 / 3)
    assert pass_all(2, made(2, 3)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_estimators_are_the_share_of_all_choices(k: int):
    chosen = [*combinations([True, True, False, False, False], k)]
    any_passes = sum(map(any, chosen)) / len(chosen)
    all_pass = sum(map(all, chosen)) / len(chosen)
    assert pass_at(k, made(2, 5)) == pytest.approx(any_passes)
    assert pass_all(k, made(2, 5)) == pytest.approx(all_pass)


def test_attempts_without_a_verdict_do_not_count():
    statuses: list[Status] = ["passed", "failed", "unscored", "error"]
    results = [CaseResult(case="a", trace="t", status=status) for status in statuses]
    assert count_attempts(results) == made(1, 2)


def test_reliability_doubles_up_to_the_most_attempts_on_both_sides():
    found = reliability({"a": (made(5, 5), made(3, 6)), "b": (made(0, 2), made(1, 2))})
    assert [(one.k, one.cases) for one in found] == [(1, 2), (2, 2), (4, 1), (5, 1)]
    assert found[0].any_passes == found[0].all_pass == (0.5, 0.5)
    assert found[3].all_pass == (1.0, 0.0)


def test_without_repeats_there_is_nothing_to_tell():
    assert reliability({"a": (made(1, 1), made(0, 1))}) == ()
    assert reliability({}) == ()


def test_a_case_is_flaky_if_it_ends_differently_within_a_run():
    tally = {"steady": (made(3, 3), made(0, 3)), "shaky": (made(3, 3), made(1, 3))}
    assert [one.case for one in flaky_cases(tally)] == ["shaky"]
