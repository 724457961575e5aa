from __future__ import annotations

import pytest

from carob.analysis.holm import holm


def test_the_smallest_counts_as_often_as_there_are_tests():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_a_corrected_value_is_never_below_that_of_a_smaller_one():
    assert holm([0.02, 0.021, 0.5]) == pytest.approx([0.06, 0.06, 0.5])


def test_no_corrected_value_is_above_one():
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def test_a_single_test_needs_no_correction():
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
