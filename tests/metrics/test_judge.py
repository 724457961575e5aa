from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import msgspec

from carob.metrics import NO_JUDGE, Answer, Ask, Judge, Need, Outcome, Question, judge_pair
from carob.metrics.ledger import Ledger
from carob.schema import Case, Failed, Json, Score, Trace, Turn, Unscored

T = TypeVar("T", bound=msgspec.Struct)
CASE = Case(id="greeting")
TRACE = Trace(id="t", turns=(Turn(user="Hello", response="Good morning!"),))


class Grade(msgspec.Struct):
    points: int


@dataclass(frozen=True, kw_only=True)
class Friendly(Judge):
    """Asks for up to ten points."""

    name: ClassVar[str] = "friendly"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    @property
    def prompt(self) -> str:
        return "sha256:1"

    @property
    def rubric(self) -> str:
        return "sha256:2"

    @property
    def judge_model(self) -> str | None:
        return None

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        response = trace.turns[-1].response or ""
        answer = await ask(Question(instructions="Grade it.", prompt=response, answer=Grade))
        return Score(answer.value.points / 10) if isinstance(answer, Answer) else answer


@dataclass
class Client:
    """Gives one answer to every question, or raises it."""

    reply: Answer[Any] | Unscored | Failed | Exception
    model: str = "model"
    params: dict[str, Json] = field(default_factory=dict[str, Json])
    asked: list[tuple[str, Ledger]] = field(default_factory=list[tuple[str, Ledger]])

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        self.asked.append((question.prompt, ledger))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def close(self) -> None:
        pass


def judge(client: Client, trace: Trace = TRACE, ledger: Ledger | None = None) -> Outcome:
    return asyncio.run(judge_pair(Friendly(), CASE, trace, client, ledger or Ledger()))


def test_answer_becomes_a_score_and_its_cost_goes_to_the_ledger():
    client, ledger = Client(Answer(value=Grade(points=8))), Ledger()
    assert judge(client, ledger=ledger) == Score(0.8)
    [(prompt, where)] = client.asked
    assert prompt == "Good morning!"
    assert where is ledger


def test_question_without_an_answer_gives_no_score():
    assert judge(Client(Unscored("the limit of calls was reached"))) == (
        Unscored("the limit of calls was reached")
    )
    assert judge(Client(Failed("timeout", "no answer"))) == Failed("timeout", "no answer")
    assert judge(Client(ValueError("points are missing"))) == (
        Failed("ValueError", "points are missing")
    )


def test_nothing_is_asked_about_a_trace_that_lacks_what_the_judge_needs():
    client = Client(Answer(value=Grade(points=10)))
    cut = msgspec.structs.replace(TRACE, gaps={"response": "the response was cut off"})
    assert judge(client, cut) == Unscored("the response was cut off")
    assert client.asked == []


def test_judge_without_a_client_gives_no_score():
    assert Friendly().score(CASE, TRACE) == NO_JUDGE
