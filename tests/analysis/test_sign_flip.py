from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from carob.analysis.sign_flip import DRAWN, EXACT, mcnemar, sign_flip_test


def drawn(number: int, shift: float, seed: int = 7) -> list[float]:
    source = random.Random(seed)  # noqa: S311 - not a secret
    return [source.gauss(shift, 1) for _ in range(number)]


def by_scipy(differences: list[float], resamples: int = 10_000) -> float:
    test = stats.permutation_test(
        (np.array(differences),),
        np.mean,
        permutation_type="samples",
        n_resamples=resamples,
        rng=np.random.default_rng(3),
    )
    return float(test.pvalue)


@pytest.mark.parametrize(
    ("fixed", "broke", "p"), [(0, 5, 0.0625), (1, 8, 0.0390625), (6, 6, 1.0), (0, 0, 1.0)]
)
def test_mcnemar_is_twice_the_tail_of_a_fair_coin(fixed: int, broke: int, p: float):
    assert mcnemar(fixed, broke) == mcnemar(broke, fixed) == pytest.approx(p)


def test_mcnemar_agrees_with_scipy():
    for fixed, broke in ((3, 17), (120, 151), (40, 41)):
        expected = stats.binomtest(fixed, fixed + broke).pvalue
        assert mcnemar(fixed, broke) == pytest.approx(expected)


def test_pass_and_fail_are_tested_by_mcnemar():
    assert sign_flip_test([-1.0] * 8 + [1.0] + [0.0] * 91) == mcnemar(1, 8)


def test_few_differences_are_tested_exactly_as_scipy_does():
    differences = drawn(12, 0.4)
    assert sign_flip_test(differences) == pytest.approx(by_scipy(differences))


def test_many_differences_are_sampled_and_agree_with_scipy():
    differences = drawn(EXACT + 60, 0.2)
    assert sign_flip_test(differences) == pytest.approx(by_scipy(differences, 20_000), abs=0.01)


@pytest.mark.parametrize("unit", [1.0, 1000.0])  # seconds and milliseconds
def test_very_many_differences_agree_with_the_normal_limit(unit: float):
    differences = [unit * difference for difference in drawn(4 * DRAWN, 0.03)]
    z = sum(differences) / sum(difference * difference for difference in differences) ** 0.5
    assert sign_flip_test(differences) == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.015)


def test_smallest_sampled_p_value_is_that_of_the_observed_combination_alone():
    assert sign_flip_test([1 + number / 100 for number in range(60)]) == 1 / 10_000


def test_few_large_differences_among_many_small_ones_are_not_approximated():
    differences = [1000.0] * 5 + [-0.001] * (3 * DRAWN)
    assert sign_flip_test(differences) == pytest.approx(mcnemar(5, 0), abs=0.01)


def test_equal_runs_have_p_one():
    assert sign_flip_test([0.0] * 50) == sign_flip_test([]) == 1.0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), max_size=40))
def test_p_is_independent_of_direction_and_order(differences: list[float]):
    p = sign_flip_test(differences)
    assert 0 < p <= 1
    assert sign_flip_test([-difference for difference in reversed(differences)]) == p
