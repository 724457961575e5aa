from __future__ import annotations

import pytest

from carob.judges.client.budget import cost, estimate_tokens, max_cost
from carob.judges.model import JudgeMessage, JudgeRequest


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
