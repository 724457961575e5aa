from __future__ import annotations

from itertools import pairwise

import pytest

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
