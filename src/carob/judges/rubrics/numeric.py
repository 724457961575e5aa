"""Judges that answer with a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median

import msgspec

from carob.judges.rubrics.aggregate import PartResult, ScoredPart, agreement, ask_samples
from carob.judges.rubrics.answers import NumericAnswer, numeric_answer_type
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.subject import Subject
from carob.metrics import Answer, Ask, Question
from carob.schema import Json, Unscored


@dataclass(frozen=True, kw_only=True)
class NumericJudge(RubricJudge):
    """Asks for a number on the scale. The result is the median of the samples. If the provider
    reports probabilities, a sample is the expected value."""

    async def rate(self, subject: Subject, ask: Ask) -> PartResult:
        material = self._material(subject)
        if isinstance(material, Unscored):
            return material
        question = Question(
            instructions=self._instructions(self.source.text),
            prompt=material.text,
            answer=self._answer_type(),
            decides="score" if self.source.whole else None,
        )
        sampled = await ask_samples(question, self.sample_count, ask)
        if (failure := sampled.failure) is not None:
            return failure
        answers = sampled.answers
        probable = all(answer.probabilities for answer in answers)
        values = [_value(answer, probable=probable) for answer in answers]
        result = _combine(values, mean=self.source.combine == "mean")
        nearest = min(range(len(values)), key=lambda index: abs(values[index] - result))
        return ScoredPart(
            points=result,
            reason=answers[nearest].value.explanation,
            agreement=agreement(values, result, within=(self.source.high - self.source.low) / 8),
            samples=[_sample(*pair) for pair in zip(answers, values, strict=True)],
            failed=sampled.failures,
            attempts=material.attempts,
            from_probabilities=probable,
        )

    def _answer_type(self) -> type[NumericAnswer]:
        return numeric_answer_type(self.source.low, self.source.high, whole=self.source.whole)


def _value(answer: Answer[NumericAnswer], *, probable: bool) -> float:
    if not probable:
        return float(answer.value.score)
    return fsum(float(text) * share for text, share in answer.probabilities.items())


def _combine(values: Sequence[float], *, mean: bool) -> float:
    return fsum(values) / len(values) if mean else median(values)


def _sample(answer: Answer[NumericAnswer], value: float) -> dict[str, Json]:
    sample: dict[str, Json] = {"value": value, **msgspec.to_builtins(answer.value)}
    if answer.probabilities:
        sample["probabilities"] = {**answer.probabilities}
    return sample
