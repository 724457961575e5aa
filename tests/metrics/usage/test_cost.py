from __future__ import annotations

import pytest

from carob.metrics.usage.cost import Cost
from carob.schema import Case, ModelCall, Score, Trace, Turn, Unscored, Usage

pytest.importorskip("genai_prices")

MILLION = 1_000_000
JUNE_2025 = 1_750_000_000 * 10**9


def cost(*calls: ModelCall) -> Score | Unscored:
    return Cost().score(Case(id="c"), Trace(id="t", turns=(Turn(model_calls=calls),)))


def dollars(model: str = "gpt-4o", provider: str | None = None, **tokens: int) -> float:
    call = ModelCall(model=model, provider=provider, usage=Usage(**tokens), start=JUNE_2025)
    score = cost(call)
    assert isinstance(score, Score)
    return score.value


def test_input_and_output_have_their_own_prices():
    assert dollars(input_tokens=MILLION, output_tokens=0) == pytest.approx(2.5)
    assert dollars(input_tokens=0, output_tokens=MILLION) == pytest.approx(10.0)


def test_cached_tokens_have_their_own_price():
    assert dollars(input_tokens=MILLION, cached_tokens=MILLION) == pytest.approx(1.25)


def test_tool_results_are_billed_as_input_and_thoughts_are_part_of_output():
    assert dollars(input_tokens=0, tool_tokens=MILLION) == pytest.approx(2.5)
    assert dollars(output_tokens=MILLION, reasoning_tokens=MILLION // 2) == pytest.approx(10.0)


def test_kinds_of_tokens_that_were_not_counted_cost_nothing():
    assert dollars(output_tokens=MILLION) == 10.0
    assert dollars("claude-sonnet-4-0", input_tokens=MILLION) == 3.0


# OpenAI lowered the price of o3 from 10 to 2 dollars on 10 June 2025.
MAY_2025 = 1_747_000_000 * 10**9


@pytest.mark.parametrize(
    ("call_start", "turn_start", "price"),
    [
        (MAY_2025, None, 10.0),
        (JUNE_2025, None, 2.0),
        (JUNE_2025, MAY_2025, 2.0),
        (None, MAY_2025, 10.0),
        (None, None, 2.0),
        (5 * 10**9, MAY_2025, 2.0),  # seconds since the start of the trace
    ],
)
def test_price_is_that_of_the_day_of_the_call(
    call_start: int | None, turn_start: int | None, price: float
):
    call = ModelCall(model="o3", usage=Usage(input_tokens=MILLION), start=call_start)
    turn = Turn(model_calls=(call,), start=turn_start)
    score = Cost().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert isinstance(score, Score)
    assert score.value == price


def test_name_of_a_framework_is_not_a_provider():
    assert dollars(provider="strands-agents", input_tokens=MILLION) == pytest.approx(2.5)


def test_unknown_model_is_unscored_and_never_has_a_default_price():
    known = ModelCall(model="gpt-4o", usage=Usage(input_tokens=1))
    unknown = ModelCall(model="house-model-7", usage=Usage(input_tokens=1))
    assert cost(known, unknown) == Unscored(
        reason="no price is known for the model 'house-model-7'"
    )


def test_contradictory_counts_are_unscored_and_never_raise():
    outcome = cost(ModelCall(model="gpt-4o", usage=Usage(input_tokens=1, cached_tokens=2)))
    assert isinstance(outcome, Unscored)
    assert outcome.reason.startswith("the token counts of 'gpt-4o' have no price: ")


def test_call_that_cannot_be_priced_is_unscored():
    assert cost(ModelCall(usage=Usage(input_tokens=1))) == Unscored(
        reason="a model call was recorded without a model name"
    )
    assert cost(ModelCall(model="gpt-4o", usage=Usage(total_tokens=1))) == Unscored(
        reason="only total tokens were recorded, not input and output"
    )
    assert cost(ModelCall(model="gpt-4o")) == Unscored(reason="token usage was not recorded")


def test_call_without_a_time_costs_the_same_every_day():
    call = ModelCall(model="deepseek-chat", usage=Usage(input_tokens=MILLION, output_tokens=0))
    assert cost(call) == cost(call)
    assert isinstance(cost(call), Score)


def test_costs_are_reported_by_turn_and_by_model():
    call = ModelCall(model="gpt-4o", usage=Usage(input_tokens=MILLION, output_tokens=0))
    score = Cost().score(Case(id="c"), Trace(id="t", turns=(Turn(model_calls=(call,)), Turn())))
    assert score == Score(value=2.5, turns=(2.5, None), details={"gpt-4o": 2.5})


def test_calls_of_one_model_add_up_and_have_the_price_of_their_time():
    call = ModelCall(model="gpt-4o", usage=Usage(input_tokens=MILLION, output_tokens=0))
    score = cost(call, call)
    assert isinstance(score, Score)
    assert score.details == {"gpt-4o": 5.0}


def test_tokens_that_were_written_to_the_cache_have_their_own_price():
    plain = dollars("claude-sonnet-4-0", input_tokens=MILLION, output_tokens=0)
    written = dollars(
        "claude-sonnet-4-0", input_tokens=MILLION, output_tokens=0, cache_write_tokens=MILLION
    )
    assert written == pytest.approx(1.25 * plain)


def test_calls_without_counts_are_named_beside_the_cost():
    outcome = cost(
        ModelCall(model="gpt-4o", usage=Usage(input_tokens=1)), ModelCall(model="gpt-4o")
    )
    assert isinstance(outcome, Score)
    assert outcome.reason == "1 of 2 model calls recorded no tokens"
