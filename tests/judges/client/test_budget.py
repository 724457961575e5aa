from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.judges.client.budget import Budget, BudgetExceededError, cost, estimate_tokens, max_cost
from carob.judges.model import JudgeMessage, JudgeRequest

ROOT = Path(__file__).parents[3]


async def call(budget: Budget, at_most: float, cost: float | None, seconds: float = 0.0) -> None:
    async with budget.reserve(at_most) as call_cost:
        await asyncio.sleep(seconds)
        call_cost.cost = cost


def spent(budget: Budget, *calls: tuple[float, float | None]) -> list[bool]:
    """Whether each of the concurrent calls was made."""

    async def run() -> list[BaseException | None]:
        started = [
            call(budget, *outcome, seconds=0.001 * number) for number, outcome in enumerate(calls)
        ]
        return await asyncio.gather(*started, return_exceptions=True)

    return [not isinstance(outcome, BudgetExceededError) for outcome in asyncio.run(run())]


def test_no_limits_by_default():
    assert all(spent(Budget(), *[(1e6, 1e6)] * 5))


def test_concurrent_calls_share_the_cost_limit():
    budget = Budget(max_cost=1.0)
    assert spent(budget, (0.6, 0.6), (0.6, 0.6)) == [True, False]
    assert budget.stopped == "the limit of $1.00 would be exceeded"


def test_call_waits_for_calls_that_may_turn_out_cheaper():
    assert spent(Budget(max_cost=1.0), (0.9, 0.1), (0.9, 0.1)) == [True, True]


def test_call_with_unknown_outcome_counts_in_full():
    assert spent(Budget(max_cost=1.0), (0.6, None), (0.6, 0.0)) == [True, False]


def test_calls_are_counted_when_they_start():
    budget = Budget(max_calls=2)
    assert spent(budget, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)) == [True, True, False]
    assert budget.stopped == "the limit of 2 calls was reached"


def test_cost_limit_requires_a_known_price():
    with pytest.raises(UsageError, match="the price of the model is unknown") as caught:
        Budget(max_cost=1.0).check_price("openai:unheard-of", None)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "'carob[judge]' for prices" in (caught.value.hint or "")
    assert any(requirement.startswith("genai-prices") for requirement in extras["judge"])
    Budget(max_calls=1).check_price("openai:unheard-of", None)
    Budget(max_cost=1.0).check_price("local:small.gguf", 0.0)


def request(text: str, max_tokens: int = 100) -> JudgeRequest:
    return JudgeRequest(
        messages=(JudgeMessage(role="user", text=text),),
        schema={},
        max_tokens=max_tokens,
        temperature=0.0,
    )


def test_prices_match_the_table():
    assert cost("openai:gpt-5-mini", 1_000_000, 100_000) == pytest.approx(0.45)
    assert cost("anthropic:claude-sonnet-4-5", 100_000, 0) == pytest.approx(0.3)


@pytest.mark.parametrize("model", ["local:judge.gguf", "ollama:llama3", "vllm:anything"])
def test_local_models_cost_nothing(model: str):
    assert cost(model, 10**6, 10**6) == 0.0


def test_unknown_model_has_no_price():
    assert cost("openai:unheard-of", 1, 1) is None
    assert max_cost("openai:unheard-of", request("x")) is None


def test_maximum_cost_grows_with_the_token_limit():
    cheap, dear = (
        max_cost("openai:gpt-5-mini", request("x")),
        max_cost("openai:gpt-5-mini", request("x", 10_000)),
    )
    assert cheap is not None
    assert dear is not None
    assert dear > 10 * cheap


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("The order left the warehouse. " * 100, 600), ("注文は出荷済みです。" * 100, 900)],
)
def test_token_estimate_is_an_upper_bound(text: str, tokens: int):
    assert estimate_tokens(request(text)) > tokens
