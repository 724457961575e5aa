from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.analysis.kappa import kappa, labels_until, measure_agreement

Table = tuple[tuple[float, ...], ...]


def of(table: object) -> float:
    return float(kappa(np.asarray(table, dtype=float)))


def test_kappa_of_two_categories_matches_manual_calculation():
    # 35 of 50 agree; chance alone makes 0.5 · 0.6 + 0.5 · 0.4 = 0.5 of it: (0.7 - 0.5) / 0.5
    assert of([[20, 5], [10, 15]]) == pytest.approx(0.4)


def test_kappa_of_levels_matches_manual_calculation():
    # 1 + 1 + 4 = 6 squares are there; chance makes (6 + 60 + 6 + 10 + 60 + 10) / 10 = 15.2 of them
    assert of([[2, 1, 0], [0, 1, 1], [1, 0, 4]]) == pytest.approx(1 - 6 / 15.2)


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
def test_kappa_of_two_categories_matches_the_closed_form(cells: list[int]):
    a, b, c, d = cells
    chance = (a + b) * (b + d) + (a + c) * (c + d)
    if chance:
        assert of([[a, b], [c, d]]) == pytest.approx(2 * (a * d - b * c) / chance)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40))
def test_kappa_of_levels_follows_from_means_and_variances(pairs: list[tuple[int, int]]):
    table = np.zeros((5, 5))
    for first, second in pairs:
        table[first - 1, second - 1] += 1
    x, y = np.array(pairs, dtype=float).T
    spread = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    if spread:
        expected = 1 - float(((x - y) ** 2).mean()) / spread
        assert of(table) == pytest.approx(expected, abs=1e-9)


def test_interval_of_ten_agreements_is_not_a_point():
    agreement = measure_agreement([[5, 0], [0, 5]])
    assert agreement.kappa is not None
    assert (agreement.kappa.value, agreement.kappa.interval[1]) == (1.0, 1.0)
    assert 0.3 < agreement.kappa.interval[0] < 0.5
    assert 0.6 < agreement.share.interval[0] < 0.8


@pytest.mark.parametrize(
    ("table", "prior"),
    [([[9, 3], [2, 11]], 0.5), ([[3, 1, 0], [0, 4, 1], [0, 1, 5]], 1 / 9)],
)
def test_interval_of_kappa_has_95_percent_of_the_posterior(table: Table, prior: float):
    cells = np.asarray(table, dtype=float)
    drawn = np.random.default_rng(1).dirichlet(cells.ravel() + prior, 20_000)
    values = kappa(drawn.reshape(-1, *cells.shape))
    agreement = measure_agreement(table)
    assert agreement.kappa is not None
    expected = np.quantile(values, [0.025, 0.975]).tolist()
    assert agreement.kappa.interval == pytest.approx(expected, abs=0.015)


def test_equal_labels_have_no_kappa():
    agreement = measure_agreement([[0, 0], [2, 8]])
    assert agreement.kappa is None
    assert agreement.share.value == 0.8


def test_constant_judge_agrees_only_by_chance():
    agreement = measure_agreement([[0, 5], [0, 20]]).kappa
    assert agreement is not None
    assert agreement.value == 0


def test_more_cases_narrow_the_interval():
    few, many = (measure_agreement([[6 * n, 2 * n], [n, 11 * n]]).kappa for n in (1, 10))
    assert few is not None
    assert many is not None
    assert few.value == many.value
    assert few.interval[0] < many.interval[0] < many.value < many.interval[1] < few.interval[1]


def test_same_table_gives_the_same_interval():
    assert measure_agreement([[6, 2], [1, 11]]) == measure_agreement([[6, 2], [1, 11]])


@cache
def _interval(cells: Table) -> tuple[float, float]:
    kappa = measure_agreement(cells, draws=2_000).kappa
    return (-1.0, 1.0) if kappa is None else kappa.interval


def _alike(people: list[float], kappa: float) -> list[list[float]]:
    """Judge and humans have the same distribution and agree beyond chance by kappa."""
    chance = np.outer(people, people)
    return cast("list[list[float]]", (kappa * np.diag(people) + (1 - kappa) * chance).tolist())


def _noisy(people: list[float], noise: float) -> list[list[float]]:
    """The judge is sometimes one or two levels off."""
    levels = np.arange(len(people))
    near = np.exp(-((levels[:, None] - levels) ** 2) / (2 * noise**2))
    off = near / near.sum(1, keepdims=True)
    return cast("list[list[float]]", (np.array(people)[:, None] * off).tolist())


@pytest.mark.parametrize(
    ("truth", "cases"),
    [
        (_alike([0.5, 0.5], 0.6), 20),
        (_alike([0.2, 0.8], 0.4), 50),
        (_alike([0.2, 0.8], 0.8), 50),
        (_alike([0.1, 0.9], 0.6), 100),
        (_noisy([0.2] * 5, 1.2), 50),
        (_noisy([0.03, 0.07, 0.1, 0.3, 0.5], 1.2), 100),
    ],
    ids=["20", "50", "50-high", "100-rare", "50-levels", "100-levels"],
)
def test_interval_has_the_nominal_coverage(truth: list[list[float]], cases: int):
    true = of(truth)
    size, times = len(truth), 300
    drawn = np.random.default_rng(7).multinomial(cases, np.array(truth).ravel(), times)
    intervals = [
        _interval(tuple(tuple(map(float, row)) for row in table.reshape(size, size)))
        for table in drawn
    ]
    coverage = sum(low <= true <= high for low, high in intervals) / times
    promised = sum(low <= true for low, _ in intervals) / times
    assert 0.91 <= coverage <= 0.99  # 0.95, and the error of 300 tries on either side
    assert promised >= 0.95  # what a gate relies on: 0.975 and the same error


def test_missing_labels_are_those_that_bring_the_lower_bound_up():
    table = [[20.0, 2.0], [2.0, 20.0]]

    def lower_bound(labels: int, draws: int = 50_000) -> float:
        scaled = [[count * labels / 44 for count in row] for row in table]
        measured = measure_agreement(scaled, draws).kappa
        assert measured is not None
        return measured.interval[0]

    missing = labels_until(table, 0.7)
    assert missing is not None
    assert lower_bound(44) < 0.7
    assert lower_bound(44 + missing) == pytest.approx(0.7, abs=0.03)
    assert missing < (labels_until(table, 0.75) or 0)
    # Searched with fewer draws: there it is the smallest number that does.
    for minimum in (0.66, 0.68, 0.7):
        enough = 44 + (labels_until(table, minimum) or 0)
        below, reached = (lower_bound(labels, draws=4_000) for labels in (enough - 1, enough))
        assert below < minimum <= reached


def test_no_number_of_labels_reaches_more_than_the_agreement_itself():
    assert labels_until([[20.0, 5.0], [5.0, 20.0]], 0.7) is None
