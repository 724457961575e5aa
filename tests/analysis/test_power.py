from __future__ import annotations

from itertools import count, pairwise
from math import sqrt

import pytest
from scipy import optimize, stats

from carob.analysis.interval import paired_differences
from carob.analysis.power import cases_needed, smallest_detectable


def test_five_flips_are_not_enough_to_rule_out_chance():
    assert smallest_detectable(paired_differences([0.0] * 5, 1.0), 0.05, binary=True) is None
    assert smallest_detectable(paired_differences([0.0] * 6, 1.0), 0.05, binary=True) is not None


def test_more_cases_show_smaller_differences():
    sizes = [
        smallest_detectable(paired_differences([0.1, -0.1] * number, 1.0), 0.05, binary=False) or 0
        for number in (5, 20, 100)
    ]
    assert all(small < large for large, small in pairwise(sizes))


def test_pass_rates_need_enough_flips_not_only_a_small_error():
    quiet = paired_differences([0.0] * 20, 1.0)
    smooth, jumping = (
        smallest_detectable(quiet, 0.05, binary=jumps) or 0 for jumps in (False, True)
    )
    assert smooth < 0.25
    assert 0.366 <= jumping <= 1.1 * 0.366  # 0.366 makes 6 of 20 cases flip, four times in five


@pytest.mark.parametrize(
    ("noise", "cases", "drop"),
    # The drop that McNemar's exact test detects in 80 % of 6,000 simulated comparisons in which
    # this share of the cases flips without a change, half of them in either direction.
    [
        (0.05, 300, 0.054),
        (0.1, 100, 0.142),
        (0.2, 50, 0.281),
        (0.2, 300, 0.089),
        (0.3, 1000, 0.054),
    ],
)
def test_detectable_drop_of_a_pass_rate_is_the_one_that_simulations_detect(
    noise: float, cases: int, drop: float
):
    flips = round(noise * cases / 2)
    quiet = [1.0] * flips + [-1.0] * flips + [0.0] * (cases - 2 * flips)
    detectable = smallest_detectable(paired_differences(quiet, 1.0), 0.05, binary=True)
    assert detectable == pytest.approx(drop, rel=0.05)


def test_with_as_many_cases_as_needed_the_interval_fits_into_the_margin():
    pattern = [0.0] * 8 + [0.3, -0.3]
    number = cases_needed(paired_differences(pattern, 1.0), 0.05, 0.05, 1) or 0
    low, high = paired_differences(pattern * (number // 10 + 1), 1.0).interval(0.9)
    assert -0.05 < low < high < 0.05


def test_difference_beyond_the_margin_needs_enough_cases_to_be_detected():
    differences = paired_differences([-1.0] * 2 + [0.0] * 6, 1.0)
    number = cases_needed(differences, 0.02, 0.05, 1) or 0
    more = paired_differences(([-1.0] * 2 + [0.0] * 6) * (number // 8 + 1), 1.0)
    assert 8 < number < 40
    assert more.interval(0.95)[1] < 0


def test_without_a_margin_equivalence_cannot_be_shown():
    assert cases_needed(paired_differences([0.0] * 10, 1.0), 0.0, 0.05, 1) is None


def flips(fixed: int, broke: int, cases: int, size: float = 1.0) -> list[float]:
    return [size] * fixed + [-size] * broke + [0.0] * (cases - fixed - broke)


@pytest.mark.parametrize(("fixed", "broke", "cases"), [(5, 20, 100), (30, 30, 200), (2, 40, 300)])
@pytest.mark.parametrize("size", [1.0, 4.0])
def test_detectable_drop_solves_connors_equation(fixed: int, broke: int, cases: int, size: float):
    sample = paired_differences(flips(fixed, broke, cases, size), size)
    change, share = abs(fixed - broke) / cases, (fixed + broke) / cases
    # What the change exceeds its standard error by is no noise.
    noise = share - max(0.0, change - sample.error() / size)
    alpha, power = stats.norm.ppf(0.975), stats.norm.ppf(0.8)

    def excess(drop: float) -> float:
        spread = alpha * sqrt((noise + drop) / cases)
        return drop - spread - power * sqrt((noise + drop - drop**2) / cases)

    expected = size * (float(optimize.brentq(excess, 1e-9, 1.0)) + 1 / cases)
    assert smallest_detectable(sample, 0.05, binary=True) == pytest.approx(expected)


def test_detectable_difference_of_scores_is_that_of_the_t_test():
    sample = paired_differences([0.1, -0.2, 0.05, 0.3, 0.0, -0.1] * 4, 1.0)
    both = stats.t.ppf(0.995, 25) + stats.t.ppf(0.8, 25)
    expected = float(both) * sample.error()
    assert smallest_detectable(sample, 0.01, binary=False) == pytest.approx(expected)


def _error_with(cases: int, variance: float, largest: float) -> float:
    """The standard error of so many cases like these, with two largest differences added."""
    return sqrt(cases * variance + 2 * largest**2) / cases


@pytest.mark.parametrize(("alpha", "tests"), [(0.05, 1), (0.05, 4), (0.01, 1)])
def test_cases_needed_to_confirm_a_difference_are_the_fewest(alpha: float, tests: int):
    sample = paired_differences([-0.2, 0.1, -0.1, 0.05, 0.0], 1.0)
    reach = float(stats.norm.ppf(1 - alpha / tests / 2) + stats.norm.ppf(0.8))
    fewest = next(
        cases
        for cases in count(6)
        if reach * _error_with(cases, sample.variance, 0.2) <= abs(sample.mean)
    )
    assert cases_needed(sample, 0.02, alpha, tests) == fewest


def test_cases_needed_for_equivalence_are_the_fewest():
    sample = paired_differences([0.3, -0.3, *[0.0] * 8], 1.0)
    reach = float(stats.norm.ppf(0.95) + stats.norm.ppf(0.9))
    fewest = next(
        cases for cases in count(11) if reach * _error_with(cases, sample.variance, 0.3) <= 0.05
    )
    assert cases_needed(sample, 0.05, 0.05, 3) == fewest  # tests of one alternative do not add up


@pytest.mark.parametrize("margin", [0.05, 0.1])
def test_equivalence_of_pass_rates_needs_room_for_one_case(margin: float):
    sample = paired_differences(flips(2, 2, 40), 1.0)
    reach = float(stats.norm.ppf(0.95) + stats.norm.ppf(0.9))
    fewest = next(
        cases
        for cases in count(41)
        if reach * _error_with(cases, sample.variance, 1.0) <= margin - 1 / cases
    )
    smooth = cases_needed(sample, margin, 0.05, 1) or 0
    needed = cases_needed(sample, margin, 0.05, 1, binary=True) or 0
    assert smooth < fewest
    assert needed == pytest.approx(fewest, abs=1)


def test_at_least_one_more_case_is_needed_and_enough_to_be_significant():
    sample = paired_differences(flips(0, 5, 5), 1.0)
    assert cases_needed(sample, 0.02, 0.05, 1, binary=True) == 6  # 2 × 2⁻⁶ is below 0.05
    large = paired_differences(flips(0, 50, 100), 1.0)
    assert cases_needed(large, 0.02, 0.05, 1, binary=True) == 101


def test_difference_of_the_size_of_the_margin_is_to_be_ruled_out():
    sample = paired_differences([0.25, -0.125] * 5, 1.0)
    confirmed, ruled_out = (cases_needed(sample, margin, 0.05, 1) for margin in (0.06, 0.0625))
    assert confirmed is not None
    assert ruled_out is not None
    assert confirmed != ruled_out
