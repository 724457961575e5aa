"""Scripted answers to the questions of judges, without a model."""

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


class AnswerWithProbabilities(NamedTuple):
    """The fields of an answer, and the probability of each value of its deciding field."""

    fields: dict[str, object]
    probabilities: dict[str, float]


class ScriptedAsk(Ask):
    """Answers with the result of a function of the question: the fields of the answer, with or
    without probabilities, or an outcome. Records the questions."""

    def __init__(self, answer: Callable[[Question[Any]], object]) -> None:
        self._answer = answer
        self.questions: list[Question[Any]] = []

    async def __call__(self, question: Question[T]) -> Answer[T] | Unscored | Failed:
        self.questions.append(question)
        result = self._answer(question)
        if isinstance(result, Unscored | Failed):
            return result
        fields, probabilities = (
            result if isinstance(result, AnswerWithProbabilities) else (result, {})
        )
        value = msgspec.convert(fields, question.answer)
        return Answer(value=value, probabilities=probabilities)


def answer_in_order(answers: Iterable[object]) -> ScriptedAsk:
    """Return the answers in order."""
    remaining = iter(answers)
    return ScriptedAsk(lambda _: next(remaining))


def extreme_answer(question: Question[Any], *, yes: bool = True) -> dict[str, object]:
    """The best or the worst answer that is valid for the question."""
    if issubclass(question.answer, NumericAnswer):
        low, high = _scale_ends(question.answer)
        return {"thoughtChain": "", "explanation": "so", "score": high if yes else low}
    if question.answer is VerdictAnswer:
        return verdict(yes=yes)
    item: dict[str, object] = verdict(yes=yes)
    if LabelAnswer in msgspec.structs.fields(question.answer)[0].type.__mro__:
        item = {"explanation": "so", "label": "supported" if yes else "unsupported"}
    return dict.fromkeys(question.answer.__struct_fields__, item)


def _scale_ends(answer: type[NumericAnswer]) -> tuple[float, float]:
    fields: Any = answer_schema(answer)["properties"]
    return fields["score"]["minimum"], fields["score"]["maximum"]


def score(value: float, explanation: str = "so") -> dict[str, object]:
    return {"thoughtChain": "first this", "explanation": explanation, "score": value}


def verdict(*, yes: bool, explanation: str = "so") -> dict[str, object]:
    return {"explanation": explanation, "verdict": "yes" if yes else "no"}


def verdicts(*yes: bool) -> dict[str, object]:
    """A verdict on each property."""
    return {
        f"property_{n}": verdict(yes=answer, explanation=f"why {n}")
        for n, answer in enumerate(yes, 1)
    }


def labels(*values: str) -> dict[str, object]:
    """A label for each sentence."""
    return {
        f"sentence_{n}": {"explanation": f"why {n}", "label": value}
        for n, value in enumerate(values, 1)
    }


def details(outcome: Outcome, key: str) -> Any:
    """One entry of the details of a score."""
    assert isinstance(outcome, Score)
    return outcome.details[key]


def judge_pair(metric: Metric, case: Case, trace: Trace, ask: Ask) -> Outcome:
    """The outcome of a judge for a case and a trace."""
    assert isinstance(metric, RubricJudge)
    return asyncio.run(metric.judge(case, trace, ask))
