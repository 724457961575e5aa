from __future__ import annotations

import pytest

from carob.metrics.ledger import Ledger, LedgerEntry, add_usage
from carob.schema import JudgeUsage


def entry(address: str = "a", *, cached: bool = False, cost: float | None = 0.5) -> LedgerEntry:
    return LedgerEntry(
        address=address,
        answered=True,
        cached=cached,
        calls=2,
        input_tokens=30,
        output_tokens=4,
        cost=cost,
    )


def test_cached_answers_count_for_the_score_and_cost_the_run_nothing():
    ledger = Ledger([entry(), entry("b", cached=True)])
    usage = ledger.judge_usage()
    assert usage == JudgeUsage(
        answers=2, cached=1, calls=2, input_tokens=30, output_tokens=4, cost=0.5
    )
    cost = ledger.judge_cost("openai:judge")
    assert (cost.model, cost.samples, cost.calls) == ("openai:judge", 2, 4)
    assert (cost.input_tokens, cost.output_tokens, cost.cost) == (60, 8, 1.0)
    assert cost.prompt == Ledger(ledger.entries[::-1]).judge_cost("openai:judge").prompt
    assert cost.prompt != Ledger(ledger.entries[:1]).judge_cost("openai:judge").prompt


def test_unknown_cost_makes_the_sum_unknown():
    assert Ledger([entry(), entry(cost=None)]).judge_usage().cost is None
    assert Ledger([entry(), entry(cost=None, cached=True)]).judge_usage().cost == 0.5


@pytest.mark.parametrize(("cost", "total"), [(0.25, 0.75), (None, None)])
def test_usages_add_up(cost: float | None, total: float | None):
    first = JudgeUsage(answers=1, cached=2, calls=3, input_tokens=4, output_tokens=5, cost=0.5)
    second = JudgeUsage(
        answers=10, cached=20, calls=30, input_tokens=40, output_tokens=50, cost=cost
    )
    assert add_usage(first, second) == JudgeUsage(
        answers=11, cached=22, calls=33, input_tokens=44, output_tokens=55, cost=total
    )
