from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.analysis.percentile import percentile

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(sorted)


@given(VALUES, st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_numpys_bit_for_bit(ordered: list[float], share: float):
    assert percentile(ordered, share) == float(np.percentile(ordered, share * 100))


@pytest.mark.parametrize(
    ("ordered", "median"), [([3.0], 3.0), ([1.0, 2.0], 1.5), ([1.0, 2.0, 9.0], 2.0)]
)
def test_the_median_of_few_values(ordered: list[float], median: float):
    assert percentile(ordered, 0.5) == median
