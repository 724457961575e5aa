from __future__ import annotations

from carob.metrics.usage.efficiency import (
    InferenceCallCount,
    ToolCallCount,
    TurnDuration,
    TurnTokens,
)
from carob.schema import Case, ModelCall, Score, ToolCall, Trace, Turn, Unscored, Usage

CASE = Case(id="c")
CALL = ToolCall(name="search")


def trace(*turns: Turn) -> Trace:
    return Trace(id="t", turns=turns)


def spent(**tokens: int | None) -> ModelCall:
    return ModelCall(model="m", usage=Usage(**tokens))


def test_tool_calls_are_counted_per_turn():
    turns = Turn(tool_calls=(CALL, CALL)), Turn(tool_calls=()), Turn()
    score = ToolCallCount().score(CASE, trace(*turns))
    assert score == Score(value=1.0, turns=(2.0, 0.0, None))


def test_model_calls_are_counted_per_turn():
    turns = Turn(model_calls=(spent(), spent(), spent())), Turn(model_calls=(spent(),))
    assert InferenceCallCount().score(CASE, trace(*turns)) == Score(value=2.0, turns=(3.0, 1.0))
    assert InferenceCallCount().score(CASE, trace(Turn())) == Unscored(
        reason="no model call was recorded"
    )


def test_tokens_of_a_turn_are_those_of_all_its_calls():
    first = spent(input_tokens=100, output_tokens=20, tool_tokens=5, total_tokens=999)
    second = spent(input_tokens=50, output_tokens=None)
    score = TurnTokens().score(CASE, trace(Turn(model_calls=(first, second))))
    assert score == Score(value=175.0, turns=(175.0,))


def test_turn_that_counted_nothing_is_zero_tokens_in_the_mean_as_in_adk():
    counted = Turn(model_calls=(spent(input_tokens=100, cached_tokens=80),))
    score = TurnTokens().score(CASE, trace(counted, Turn()))
    assert score == Score(value=50.0, turns=(100.0, None))


def test_recorded_total_is_used_without_parts():
    score = TurnTokens().score(CASE, trace(Turn(model_calls=(spent(total_tokens=70),))))
    assert score == Score(value=70.0, turns=(70.0,))


def test_call_without_any_count_is_not_zero_tokens():
    outcome = TurnTokens().score(CASE, trace(Turn(model_calls=(spent(),))))
    assert outcome == Unscored(reason="token usage was not recorded")


def test_duration_is_in_seconds():
    turns = Turn(start=0, end=1_500_000_000), Turn(start=2_000_000_000, end=2_500_000_000)
    assert TurnDuration().score(CASE, trace(*turns)) == Score(value=1.0, turns=(1.5, 0.5))
    assert TurnDuration().score(CASE, trace(Turn(start=0, end=1_234_567_890))) == Score(
        value=1.235, turns=(1.23456789,)
    )
    assert TurnDuration().score(CASE, trace(Turn(start=1))) == Unscored(
        reason="timing was not recorded"
    )


def test_turn_may_take_no_time():
    turns = Turn(start=0, end=0), Turn(start=0, end=1_000_000_000)
    assert TurnDuration().score(CASE, trace(*turns)) == Score(value=0.5, turns=(0.0, 1.0))


def test_turn_that_ends_before_its_start_leaves_the_duration_unscored():
    turns = Turn(start=0, end=1_500_000_000), Turn(start=2_500_000_000, end=2_000_000_000)
    assert TurnDuration().score(CASE, trace(*turns)) == Unscored(
        reason="the recorded end is before the start"
    )
