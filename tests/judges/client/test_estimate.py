from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from carob.judges import Estimator, Kept, Memory
from carob.judges.client.sending import address_of
from carob.metrics import Answer, Ledger, Question
from carob.schema import JudgeChoice, Unscored

CHOICE = JudgeChoice(model="openai:gpt-5-mini", max_tokens=500)


class Verdict(msgspec.Struct, frozen=True):
    verdict: Literal["yes", "no"]


def question(prompt: str = "Is it?") -> Question[Verdict]:
    return Question(instructions="Judge.", prompt=prompt, answer=Verdict)


def test_nobody_is_asked_and_everything_is_counted():
    estimator, ledger = Estimator(CHOICE, Memory()), Ledger()
    for prompt in ("Is it?", "Was it?", "Is it?"):
        found = asyncio.run(estimator.ask(question(prompt), ledger))
        assert found == Unscored(reason="estimated, not asked")
    spent = ledger.spending()
    assert (spent.calls, spent.cached, spent.output_tokens) == (2, 1, 1000)
    assert spent.input_tokens > 60
    # 250 and 2000 thousandths of a cent for a thousand tokens
    assert spent.cost is not None
    assert abs(spent.cost - (0.25e-6 * spent.input_tokens + 2e-6 * 1000)) < 1e-9


def test_what_is_known_already_costs_nothing():
    cache = Memory()
    cache.put(address_of(question(), CHOICE), Kept(text='{"verdict":"yes"}'))
    ledger = Ledger()
    found = asyncio.run(Estimator(CHOICE, cache).ask(question(), ledger))
    assert found == Answer(value=Verdict(verdict="yes"))
    assert (ledger.spending().calls, ledger.spending().cost) == (0, 0.0)
