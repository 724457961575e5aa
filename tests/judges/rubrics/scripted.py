"""Somebody who answers the questions of judges as a test tells them to, without any model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from carob.judges.client.answer_type import answer_schema
from carob.judges.rubrics.answers import LabelAnswer, NumericAnswer, VerdictAnswer
from carob.judges.rubrics.judge import RubricJudge
from carob.metrics import Answer, Ask, Metric, Outcome, Question
from carob.metrics.judge import T
from carob.schema import Case, Failed, Score, Trace, Unscored


class Told(NamedTuple):
    """The fields of an answer, and how probable each value of the field that decides was."""

    fields: dict[str, object]
    probabilities: dict[str, float]


class Scripted(Ask):
    """Answers by a function of the question, which gives the fields of the answer, with or without
    probabilities, or an outcome. It remembers what it was asked."""

    def __init__(self, say: Callable[[Question[Any]], object]) -> None:
        self._say = say
        self.questions: list[Question[Any]] = []

    async def __call__(self, question: Question[T]) -> Answer[T] | Unscored | Failed:
        self.questions.append(question)
        said = self._say(question)
        if isinstance(said, Unscored | Failed):
            return said
        fields, probabilities = said if isinstance(said, Told) else (said, {})
        value = msgspec.convert(fields, question.answer)
        return Answer(value=value, probabilities=probabilities)


def in_turn(answers: Iterable[object]) -> Scripted:
    """One answer after the other."""
    left = iter(answers)
    return Scripted(lambda _: next(left))


def agreeable(question: Question[Any], *, yes: bool = True) -> dict[str, object]:
    """An answer that fits the question, whatever it asks for: the best there is, or the worst."""
    if issubclass(question.answer, NumericAnswer):
        low, high = _ends(question.answer)
        return {"thoughtChain": "", "explanation": "so", "score": high if yes else low}
    if question.answer is VerdictAnswer:
        return verdict(yes=yes)
    one: dict[str, object] = verdict(yes=yes)
    if LabelAnswer in msgspec.structs.fields(question.answer)[0].type.__mro__:
        one = {"explanation": "so", "label": "supported" if yes else "unsupported"}
    return dict.fromkeys(question.answer.__struct_fields__, one)


def _ends(answer: type[NumericAnswer]) -> tuple[float, float]:
    fields: Any = answer_schema(answer)["properties"]
    return fields["score"]["minimum"], fields["score"]["maximum"]


def score(value: float, explanation: str = "so") -> dict[str, object]:
    return {"thoughtChain": "first this", "explanation": explanation, "score": value}


def verdict(*, yes: bool, explanation: str = "so") -> dict[str, object]:
    return {"explanation": explanation, "verdict": "yes" if yes else "no"}


def verdicts(*yes: bool) -> dict[str, object]:
    """A verdict on each property."""
    return {
        f"property_{n}": verdict(yes=answer, explanation=f"why {n}") for n, answer in enumerate(yes, 1)
    }


def labels(*named: str) -> dict[str, object]:
    """A label for each sentence."""
    return {
        f"sentence_{n}": {"explanation": f"why {n}", "label": one} for n, one in enumerate(named, 1)
    }


def details(outcome: Outcome, key: str) -> Any:
    """A part of the details of a score."""
    assert isinstance(outcome, Score)
    return outcome.details[key]


def judged(metric: Metric, case: Case, trace: Trace, ask: Ask) -> Outcome:
    """What a judge makes of a pair."""
    assert isinstance(metric, RubricJudge)
    return asyncio.run(metric.judge(case, trace, ask))
