from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from carob.judges.client.cache import CachedAnswer, MemoryCache
from carob.judges.client.client import Estimator
from carob.judges.client.request import cache_key
from carob.metrics import Answer, Ledger, Question
from carob.schema import JudgeSettings, Unscored

SETTINGS = JudgeSettings(model="openai:gpt-5-mini", max_tokens=500)


class Verdict(msgspec.Struct, frozen=True):
    verdict: Literal["yes", "no"]


def question(prompt: str = "Is it?") -> Question[Verdict]:
    return Question(instructions="Judge.", prompt=prompt, answer=Verdict)


def test_every_question_is_counted_without_asking():
    estimator, ledger = Estimator(SETTINGS, MemoryCache()), Ledger()
    for prompt in ("Is it?", "Was it?", "Is it?"):
        outcome = asyncio.run(estimator.ask(question(prompt), ledger))
        assert outcome == Unscored(reason="estimated, not asked")
    spent = ledger.judge_usage()
    assert (spent.calls, spent.cached, spent.output_tokens) == (2, 1, 1000)
    assert spent.input_tokens > 60
    # 250 and 2000 thousandths of a cent for a thousand tokens
    assert spent.cost is not None
    assert abs(spent.cost - (0.25e-6 * spent.input_tokens + 2e-6 * 1000)) < 1e-9


def test_cached_answers_cost_nothing():
    cache = MemoryCache()
    cache.put(cache_key(question(), SETTINGS), CachedAnswer(text='{"verdict":"yes"}'))
    ledger = Ledger()
    outcome = asyncio.run(Estimator(SETTINGS, cache).ask(question(), ledger))
    assert outcome == Answer(value=Verdict(verdict="yes"))
    assert (ledger.judge_usage().calls, ledger.judge_usage().cost) == (0, 0.0)
