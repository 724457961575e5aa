from __future__ import annotations

import pytest

from karat.metrics.latency import Interval, Latency, covered
from karat.schema import Case, ModelCall, Score, ToolCall, Trace, Turn, Unscored

MS = 1_000_000


def test_time_is_split_without_counting_any_of_it_twice():
    models = (
        ModelCall(start=10 * MS, end=30 * MS),
        ModelCall(start=20 * MS, end=40 * MS),
        ModelCall(start=60 * MS, end=70 * MS),
    )
    tools = (ToolCall(name="agent", start=35 * MS, end=80 * MS), ToolCall(name="untimed"))
    turn = Turn(start=0, end=100 * MS, model_calls=models, tool_calls=tools)
    score = Latency().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert score == Score(
        value=100.0,
        turns=(100.0,),
        details={"model_ms": 40.0, "first_response_ms": 30.0, "tool_ms": 30.0},
    )


def test_turns_have_their_own_time():
    turns = Turn(start=0, end=5 * MS), Turn(), Turn(start=10 * MS, end=12 * MS)
    score = Latency().score(Case(id="c"), Trace(id="t", turns=turns))
    assert score == Score(value=12.0, turns=(5.0, None, 2.0))


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (Turn(), "timing was not recorded"),
        (Turn(start=2, end=1), "the recorded end is before the start"),
    ],
)
def test_time_that_makes_no_sense_is_unscored(turn: Turn, reason: str):
    outcome = Latency().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert outcome == Unscored(reason=reason)


@pytest.mark.parametrize(
    ("intervals", "time"),
    [
        ([], 0),
        ([(0, 5)], 5),
        ([(0, 5), (1, 2)], 5),
        ([(3, 6), (0, 4)], 6),
        ([(0, 2), (4, 6)], 4),
        ([(5, 1)], 0),
    ],
)
def test_overlaps_count_once(intervals: list[Interval], time: int):
    assert covered(intervals) == time
