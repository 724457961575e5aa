from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.analysis.multiple_tests import holm, step_down
from carob.analysis.sign_flip import sign_flip_test


def test_smallest_p_value_is_multiplied_by_the_number_of_tests():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_adjusted_p_values_keep_their_order():
    assert holm([0.02, 0.021, 0.5]) == pytest.approx([0.06, 0.06, 0.5])


def test_no_adjusted_p_value_exceeds_one():
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def test_single_p_value_is_not_adjusted():
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_copies_of_one_test_cost_nothing():
    differences = [0.2, 0.1, 0.3, 0.25, -0.05, 0.15, 0.1, 0.2]
    p = sign_flip_test(differences)
    assert step_down([differences] * 5, [p] * 5) == pytest.approx([p] * 5)
    assert holm([p] * 5) == pytest.approx([5 * p] * 5)


def brute_force(columns: list[list[float]]) -> list[float]:
    """The definition: compare each statistic with the largest of its rivals over all flips."""
    data = np.array(columns)
    data = data / np.sqrt((data**2).sum(axis=1, keepdims=True))
    observed = np.abs(data.sum(axis=1))
    order = sorted(range(len(columns)), key=lambda index: -observed[index])
    flipped = [np.abs(data @ np.array(signs)) for signs in product((1, -1), repeat=data.shape[1])]
    adjusted, floor = [0.0] * len(columns), 0.0
    for position, index in enumerate(order):
        rivals = order[position:]
        share = np.mean([sums[rivals].max() >= observed[index] - 1e-9 for sums in flipped])
        floor = max(floor, float(share))
        adjusted[index] = floor
    return adjusted


NUMBERS = st.floats(-1, 1).map(lambda value: round(value, 2)).filter(lambda value: abs(value) > 0.1)


@given(st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=2, max_size=4))
def test_few_cases_follow_the_definition_exactly(columns: list[list[float]]):
    assert step_down(columns, [0.0] * len(columns)) == pytest.approx(brute_force(columns))


def test_no_adjusted_p_value_is_below_that_of_the_single_test():
    assert step_down([[0.1, 0.2, 0.3], [0.3, 0.2, -0.1]], [0.9, 0.95]) == [0.9, 0.95]


def test_test_without_differences_has_p_one():
    assert step_down([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]], [1.0, 0.25])[0] == 1.0


def test_many_cases_are_sampled_the_same_way_every_time():
    source = np.random.RandomState(7)
    shared = source.normal(0.03, 0.2, 3000)
    columns = [(shared + source.normal(0, 0.1, 3000)).tolist() for _ in range(4)]
    p_values = [sign_flip_test(column) for column in columns]
    adjusted = step_down(columns, p_values)
    assert adjusted == step_down(columns, p_values)
    assert all(a <= b + 0.003 for a, b in zip(adjusted, holm(p_values), strict=True))


@pytest.mark.parametrize("cases", [25, 60, 1200])
def test_same_test_twice_has_the_p_value_of_one(cases: int):
    source = np.random.RandomState(9).normal(0, 0.2, cases)
    column = (source - source.mean() + 0.3 / cases**0.5).tolist()
    p = sign_flip_test(column)
    assert 0.05 < p < 0.3
    assert step_down([column, column], [0.0, 0.0]) == pytest.approx([p, p], abs=0.015)


def test_cases_that_differ_in_one_test_only_count():
    columns = [[0.5, 0.4, 0.6, 0.0, 0.0], [0.0, 0.0, 0.1, 0.5, 0.4]]
    for order in (columns, columns[::-1]):
        assert step_down(order, [0.0, 0.0]) == pytest.approx(brute_force(order))


def test_false_positives_stay_at_alpha_for_correlated_metrics():
    source = np.random.RandomState(3)
    alarms, trials = 0, 400
    for _ in range(trials):
        shared = source.normal(0, 1, 12)
        columns = [(shared + source.normal(0, 0.5, 12)).tolist() for _ in range(3)]
        alarms += min(step_down(columns, [0.0] * 3)) <= 0.05
    assert alarms / trials <= 0.05 + 2 * (0.05 * 0.95 / trials) ** 0.5
