from __future__ import annotations

import pytest

from carob.metrics import Metric
from carob.metrics.usage.token_usage import (
    CacheEfficiency,
    ContextSaturation,
    OutputDensity,
    Thinking,
    TokenUsage,
)
from carob.schema import Case, ModelCall, Score, Trace, Turn, Unscored, Usage

ALL: tuple[Metric, ...] = (
    TokenUsage(),
    CacheEfficiency(),
    Thinking(),
    ContextSaturation(),
    OutputDensity(),
)
# Prompt 1000, of which cached 400; candidates 200 and thoughts 50.
CALL = Usage(input_tokens=1000, output_tokens=250, cached_tokens=400, reasoning_tokens=50)


def score(metric: Metric, *usages: Usage) -> Score:
    calls = tuple(ModelCall(model="m", usage=usage) for usage in usages)
    outcome = metric.score(Case(id="c"), Trace(id="t", turns=(Turn(model_calls=calls),)))
    assert isinstance(outcome, Score)
    return outcome


def test_cached_tokens_are_part_of_the_prompt():
    assert score(CacheEfficiency(), CALL).value == 0.4


def test_thoughts_are_part_of_the_output():
    assert score(Thinking(), CALL).value == 0.2


def test_missing_token_kinds_count_as_zero():
    other = Usage(input_tokens=1000, output_tokens=None, tool_tokens=10)
    assert score(TokenUsage(), CALL, other).value == 2260
    assert score(CacheEfficiency(), CALL, other).value == 0.2
    assert score(Thinking(), CALL, other).value == 0.2
    assert score(OutputDensity(), CALL, other).value == 125


def test_details_list_usage_by_kind():
    assert score(TokenUsage(), CALL).details == {
        "input_tokens": 1000,
        "output_tokens": 250,
        "cached_tokens": 400,
        "reasoning_tokens": 50,
        "total_tokens": 1250,
        "calls": 1,
    }


def test_saturation_is_the_largest_call():
    found = score(ContextSaturation(), Usage(input_tokens=5), CALL, Usage(total_tokens=9))
    assert (found.value, found.details) == (1250, {"call": 2, "calls": 3, "model": "m"})
    assert score(ContextSaturation(), Usage(input_tokens=0)).value == 0


def test_density_details_state_what_was_divided():
    assert score(OutputDensity(), CALL, CALL).details == {"output_tokens": 500, "calls": 2}


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_calls_without_usage_are_unscored(metric: Metric):
    trace = Trace(id="t", turns=(Turn(model_calls=(ModelCall(model="m"),)),))
    outcome = metric.score(Case(id="c"), trace)
    assert isinstance(outcome, Unscored)
    assert outcome.reason.endswith("recorded")


def test_more_cached_than_input_tokens_is_unscored():
    trace = Trace(
        id="t",
        turns=(Turn(model_calls=(ModelCall(usage=Usage(input_tokens=1, cached_tokens=2)),)),),
    )
    assert CacheEfficiency().score(Case(id="c"), trace) == Unscored(
        reason="2 cached tokens cannot be part of 1 input tokens"
    )


def test_share_of_tokens_that_were_not_recorded_is_unscored():
    call = ModelCall(usage=Usage(output_tokens=9, cached_tokens=0))
    trace = Trace(id="t", turns=(Turn(model_calls=(call,)),))
    assert CacheEfficiency().score(Case(id="c"), trace) == Unscored(
        reason="no input tokens were recorded"
    )


def test_calls_without_counts_are_named_beside_the_total():
    found = score(TokenUsage(), CALL, Usage())
    assert (found.value, found.reason) == (1250, "1 of 2 model calls recorded no tokens")
    assert score(TokenUsage(), CALL).reason == ""
