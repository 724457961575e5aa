"""Judges that answer with a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import msgspec

from carob.judges.rubrics.aggregate import Rated, Rating, trouble
from carob.judges.rubrics.answers import Graded, graded
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.samples import agreement, median, sampled
from carob.judges.rubrics.subject import Subject
from carob.metrics import Answer, Ask, Question
from carob.schema import Json, Unscored


@dataclass(frozen=True, kw_only=True)
class GradeJudge(RubricJudge):
    """Asks for a number on the scale. Of several samples the median counts. Where the provider
    tells how probable each number was, a sample is the expected value."""

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        material = self._material(subject)
        if isinstance(material, Unscored):
            return material
        question = Question(
            instructions=self._instructions(self.asks.text),
            prompt=material.text,
            answer=self._shape(),
            decides="score" if self.asks.whole else None,
        )
        found = await sampled(question, self.count, ask)
        if (why := trouble(found)) is not None:
            return why
        probable = all(one.probabilities for one in found.answers)
        values = [_value(one, probable=probable) for one in found.answers]
        result = _combined(values, mean=self.asks.combine == "mean")
        near = min(range(len(values)), key=lambda place: abs(values[place] - result))
        return Rated(
            points=result,
            reason=found.answers[near].value.explanation,
            agreement=agreement(values, result, within=(self.asks.high - self.asks.low) / 8),
            samples=[_told(*one) for one in zip(found.answers, values, strict=True)],
            failed=found.failures,
            attempts=material.attempts,
            probable=probable,
        )

    def _shape(self) -> type[Graded]:
        return graded(self.asks.low, self.asks.high, whole=self.asks.whole)


def _value(answer: Answer[Graded], *, probable: bool) -> float:
    if not probable:
        return float(answer.value.score)
    return fsum(float(text) * share for text, share in answer.probabilities.items())


def _combined(values: Sequence[float], *, mean: bool) -> float:
    return fsum(values) / len(values) if mean else median(values)


def _told(answer: Answer[Graded], value: float) -> dict[str, Json]:
    told: dict[str, Json] = {"value": value, **msgspec.to_builtins(answer.value)}
    if answer.probabilities:
        told["probabilities"] = {**answer.probabilities}
    return told
