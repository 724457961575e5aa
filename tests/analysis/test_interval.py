from __future__ import annotations

from math import sqrt
from random import Random

import pytest
from scipy import stats

from carob.analysis.interval import mean_interval, paired_differences


def test_interval_of_all_passed_is_not_a_point():
    low, high = mean_interval([1.0] * 10, 0.95, (0.0, 1.0)) or (0, 0)
    assert (low, high) == (pytest.approx(0.7225, abs=1e-4), 1.0)


def test_pass_and_fail_have_wilsons_interval():
    expected = stats.binomtest(7, 20).proportion_ci(0.95, method="wilson")
    interval = mean_interval([1.0] * 7 + [0.0] * 13, 0.95, (0.0, 1.0))
    assert interval == pytest.approx((expected.low, expected.high))


def test_wilsons_interval_follows_the_scale():
    ones = mean_interval([1.0, 0.0, 1.0], 0.9, (0.0, 1.0)) or (0, 0)
    fives = mean_interval([5.0, 1.0, 5.0], 0.9, (1.0, 5.0))
    assert fives == pytest.approx([1 + 4 * end for end in ones])


def test_scores_have_students_interval():
    values = [0.2, 0.4, 0.5, 0.45]
    error = stats.sem(values)
    expected = stats.t.interval(0.95, 3, loc=sum(values) / 4, scale=error)
    assert mean_interval(values, 0.95, (0.0, 1.0)) == pytest.approx(expected)


def test_interval_does_not_leave_the_scale():
    assert mean_interval([0.1, 0.9], 0.95, (0.0, 1.0)) == (0.0, 1.0)
    assert (mean_interval([0.1, 0.9], 0.95, (0.0, None)) or (0, 0))[1] > 1


def test_single_score_has_no_interval():
    assert mean_interval([0.4], 0.95, (0.0, 1.0)) is None


def test_differences_of_pass_and_fail_have_the_interval_of_bonett_and_price():
    expected = paired_differences([-1.0] * 6 + [1.0] * 2 + [0.0] * 42, span=1.0)
    fixed, broke, number = 3 / 52, 7 / 52, 52
    error = sqrt((fixed + broke - (fixed - broke) ** 2) / number)
    assert expected.error() == pytest.approx(error)
    low, high = expected.interval(0.95)
    assert (low + high) / 2 == pytest.approx(fixed - broke)


def test_interval_of_few_equal_cases_is_not_a_point():
    few, many = (
        paired_differences([0.0] * 5, 1.0).interval(0.9),
        paired_differences([0.0] * 500, 1.0).interval(0.9),
    )
    assert few[1] > 0.3
    assert many[1] < 0.01


@pytest.mark.parametrize(
    ("noise", "margin", "cases"), [(0.0, 0.15, 60), (0.01, 0.1, 500), (0.05, 0.1, 100)]
)
def test_equivalence_of_pass_rates_is_claimed_at_most_as_often_as_alpha_allows(
    noise: float, margin: float, cases: int
):
    source, trials, claims = Random(5), 2_000, 0  # noqa: S311 - a simulation
    for _ in range(trials):
        draws = source.choices(
            (-1.0, 1.0, 0.0), (noise / 2 + margin, noise / 2, 1 - noise - margin), k=cases
        )
        low, high = paired_differences(draws, 1.0).equivalence_interval(0.9, binary=True)
        claims += -margin <= low and high <= margin
    assert claims / trials <= 0.05 + 2 * sqrt(0.05 * 0.95 / trials)
