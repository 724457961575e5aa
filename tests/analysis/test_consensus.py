from __future__ import annotations

import pytest

from carob.analysis.consensus import consensus
from carob.schema import Opinion


@pytest.mark.parametrize(
    ("opinions", "expected"),
    [
        (["passed"], "passed"),
        (["passed", "failed", "failed"], "failed"),
        (["passed", "failed"], None),
        ([4.0], 4.0),
        ([1.0, 5.0, 4.0], 4.0),
        ([3.0, 4.0], None),
        ([3.0, 5.0], 4.0),
    ],
)
def test_most_of_them_or_the_middle_decides_and_a_tie_does_not(
    opinions: list[Opinion], expected: Opinion | None
):
    assert consensus(opinions, whole=True) == expected


def test_between_two_numbers_is_a_number_where_there_are_no_levels():
    assert consensus([0.5, 0.8]) == pytest.approx(0.65)
