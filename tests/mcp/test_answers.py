from __future__ import annotations

from carob.analysis.flips import LazyFlips
from carob.mcp.answers import to_json
from carob.schema import Flip


def test_flips_that_are_made_while_they_are_iterated_are_in_the_answer():
    def make_flip(index: int) -> Flip:
        return Flip(f"case-{index}", "broke", "passed", "failed", scores=(), turns=())

    answer = to_json({"flips": LazyFlips(make_flip, 3)})
    assert isinstance(answer, dict)
    flips = answer["flips"]
    assert isinstance(flips, list)
    assert [flip["case"] for flip in flips if isinstance(flip, dict)] == [
        "case-0",
        "case-1",
        "case-2",
    ]
