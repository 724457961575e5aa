from __future__ import annotations

import pytest

from carob.metrics.usage.latency import Interval, Latency, time_by_kind
from carob.schema import Case, ModelCall, Score, ToolCall, Trace, Turn, Unscored

MS = 1_000_000


def test_no_time_is_counted_twice():
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
        details={"model_ms": 35.0, "first_response_ms": 30.0, "tool_ms": 35.0},
    )


def test_turns_have_their_own_time():
    turns = Turn(start=0, end=5 * MS), Turn(start=6 * MS), Turn(start=10 * MS, end=12 * MS)
    score = Latency().score(Case(id="c"), Trace(id="t", turns=turns))
    assert score == Score(value=12.0, turns=(5.0, None, 2.0))


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (Turn(), "timing was not recorded"),
        (Turn(start=2, end=1), "the recorded end is before the start"),
    ],
)
def test_negative_duration_is_unscored(turn: Turn, reason: str):
    outcome = Latency().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert outcome == Unscored(reason=reason)


@pytest.mark.parametrize(
    ("models", "tools", "model", "tool"),
    [
        ([], [], 0, 0),
        ([(0, 5)], [], 5, 0),
        ([(3, 6), (0, 4)], [], 6, 0),
        ([(0, 2), (4, 6)], [(2, 4)], 4, 2),
        ([(0, 10)], [(3, 7)], 6, 4),
        ([(4, 6)], [(3, 7)], 2, 2),
        ([(0, 10), (4, 6)], [(3, 7), (3, 5)], 8, 2),
        ([(0, 5)], [(0, 3)], 2, 3),
        ([(5, 1)], [(1, 1)], 0, 0),
    ],
)
def test_moment_belongs_to_the_innermost_call(
    models: list[Interval], tools: list[Interval], model: int, tool: int
):
    assert time_by_kind({"model": models, "tool": tools}) == {"model": model, "tool": tool}


def test_model_call_has_answered_when_its_tool_starts():
    turn = Turn(
        start=0,
        end=12 * MS,
        model_calls=(ModelCall(start=1 * MS, end=8 * MS), ModelCall(start=8 * MS, end=11 * MS)),
        tool_calls=(ToolCall(name="search", start=3 * MS, end=7 * MS),),
    )
    score = Latency().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert isinstance(score, Score)
    assert score.details == {"model_ms": 6.0, "first_response_ms": 3.0, "tool_ms": 4.0}


def test_turn_that_took_no_time_has_a_latency_of_zero():
    score = Latency().score(Case(id="c"), Trace(id="t", turns=(Turn(start=7, end=7),)))
    assert score == Score(value=0.0, turns=(0.0,))


def test_first_response_is_measured_from_the_first_turn():
    turns = (
        Turn(start=100 * MS, end=180 * MS, model_calls=(ModelCall(start=110 * MS, end=150 * MS),)),
        Turn(start=200 * MS, end=260 * MS, model_calls=(ModelCall(start=210 * MS, end=220 * MS),)),
    )
    score = Latency().score(Case(id="c"), Trace(id="t", turns=turns))
    assert isinstance(score, Score)
    assert score.details == {"model_ms": 50.0, "first_response_ms": 50.0}


def test_model_call_without_a_start_has_answered_but_took_no_known_time():
    calls = (
        ModelCall(start=None, end=30 * MS),
        ModelCall(start=40 * MS, end=None),
        ModelCall(start=None, end=None),
    )
    turn = Turn(start=0, end=60 * MS, model_calls=calls)
    score = Latency().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert score == Score(value=60.0, turns=(60.0,), details={"first_response_ms": 30.0})
