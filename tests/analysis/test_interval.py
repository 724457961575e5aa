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


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_of_differences_is_students_around_the_shrunk_mean(level: float):
    differences = [0.3, -0.1, 0.2, 0.0, 0.25]
    low, high = paired_differences(differences, 1.0).interval(level)
    added = [*differences, 0.3, -0.3]  # a largest difference in either direction
    mean = sum(added) / 7
    error = sqrt(sum((value - mean) ** 2 for value in added)) / 7
    expected = stats.t.interval(level, 6, loc=mean, scale=error)
    assert (low, high) == pytest.approx(expected)


def test_largest_difference_is_the_span_only_if_all_are_zero():
    assert paired_differences([0.1, -0.4, 0.2], 1.0).largest == 0.4
    assert paired_differences([0.0, 0.0], 5.0).largest == 5.0


@pytest.mark.parametrize(
    ("fixed", "broke", "cases"), [(0, 3, 60), (7, 2, 60), (0, 0, 20), (0, 8, 50)]
)
@pytest.mark.parametrize("size", [1.0, 4.0])
def test_equivalence_interval_of_pass_rates_is_one_case_wider_or_exact(
    fixed: int, broke: int, cases: int, size: float
):
    differences = [size] * fixed + [-size] * broke + [0.0] * (cases - fixed - broke)
    sample = paired_differences(differences, size)
    low, high = sample.interval(0.9)
    assert sample.equivalence_interval(0.9, binary=False) == (low, high)

    def exact(net: int) -> float:
        test = stats.binomtest(max(0, net), cases)
        return size * test.proportion_ci(0.9, method="exact").high

    expected = (
        min(low - size / cases, -exact(broke - fixed)),
        max(high + size / cases, exact(fixed - broke)),
    )
    assert sample.equivalence_interval(0.9, binary=True) == pytest.approx(expected)


def test_equivalence_interval_reaches_the_largest_difference_if_all_cases_flipped():
    low, high = paired_differences([-1.0] * 4, 1.0).equivalence_interval(0.9, binary=True)
    assert low <= -1.0
    assert high < 1.0


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
