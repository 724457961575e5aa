from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.judges import Budget
from carob.judges.client.budget import SpentError

ROOT = Path(__file__).parents[3]


async def call(budget: Budget, at_most: float, cost: float | None, seconds: float = 0.0) -> None:
    async with budget.call(at_most) as bill:
        await asyncio.sleep(seconds)
        bill.cost = cost


def spent(budget: Budget, *calls: tuple[float, float | None]) -> list[bool]:
    """Which of the calls were made, all begun at the same time."""

    async def run() -> list[BaseException | None]:
        made = [call(budget, *one, seconds=0.001 * place) for place, one in enumerate(calls)]
        return await asyncio.gather(*made, return_exceptions=True)

    return [not isinstance(one, SpentError) for one in asyncio.run(run())]


def test_without_limits_everything_may_be_asked():
    assert all(spent(Budget(), *[(1e6, 1e6)] * 5))


def test_calls_at_the_same_time_do_not_exceed_the_limit_together():
    budget = Budget(max_cost=1.0)
    assert spent(budget, (0.6, 0.6), (0.6, 0.6)) == [True, False]
    assert budget.stopped == "the limit of $1.00 would be exceeded"


def test_a_call_waits_for_one_that_may_turn_out_cheaper():
    assert spent(Budget(max_cost=1.0), (0.9, 0.1), (0.9, 0.1)) == [True, True]


def test_a_call_whose_end_is_not_known_counts_as_what_it_might_have_cost():
    assert spent(Budget(max_cost=1.0), (0.6, None), (0.6, 0.0)) == [True, False]


def test_calls_are_counted_when_they_begin():
    budget = Budget(max_calls=2)
    assert spent(budget, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)) == [True, True, False]
    assert budget.stopped == "the limit of 2 calls was reached"


def test_a_cost_cannot_be_limited_where_no_price_is_known():
    with pytest.raises(UsageError, match="openai:unheard-of: no price is known") as caught:
        Budget(max_cost=1.0).check_price("openai:unheard-of", None)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "'carob[judge]' for prices" in (caught.value.hint or "")
    assert any(one.startswith("genai-prices") for one in extras["judge"])
    Budget(max_calls=1).check_price("openai:unheard-of", None)
    Budget(max_cost=1.0).check_price("local:small.gguf", 0.0)
