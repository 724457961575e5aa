"""Judges that answer yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import msgspec

from carob.judges.rubrics.aggregate import Rated, Rating, trouble
from carob.judges.rubrics.answers import Verdict
from carob.judges.rubrics.fence import Fenced
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.rubric import Rubric
from carob.judges.rubrics.samples import Sampled, majority, sampled
from carob.judges.rubrics.subject import Subject
from carob.metrics import Answer, Ask, Question
from carob.schema import Json, Unscored


@dataclass(frozen=True, kw_only=True)
class VerdictJudge(RubricJudge):
    """Asks for yes or no. Of several samples the majority counts, and a tie loses. Where the
    provider tells how probable yes was, that is the score, unless the rubric wants votes."""

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        material = self._material(subject)
        return material if isinstance(material, Unscored) else await self._verdict(material, ask)

    async def _verdict(self, material: Fenced, ask: Ask) -> Rating:
        question = Question(
            instructions=self._instructions(self.asks.text),
            prompt=material.text,
            answer=self._shape(),
            decides="verdict",
        )
        found = await sampled(question, self.count, ask)
        return trouble(found) or _rated(self.asks, found, material)

    def _shape(self) -> type[Verdict]:
        return Verdict


def _rated(rubric: Rubric, found: Sampled[Verdict], material: Fenced) -> Rated:
    votes = [one.value.verdict == "yes" for one in found.answers]
    verdict = majority(votes)
    probable = rubric.combine != "majority" and all(one.probabilities for one in found.answers)
    values = [_value(one, probable=probable) for one in found.answers]
    shared = probable or rubric.combine == "mean"
    return Rated(
        points=fsum(values) / len(values) if shared else float(verdict),
        reason=found.answers[votes.index(verdict)].value.explanation,
        agreement=votes.count(verdict) / len(votes),
        samples=[_told(*one) for one in zip(found.answers, values, strict=True)],
        failed=found.failures,
        attempts=material.attempts,
        probable=probable,
    )


def _value(answer: Answer[Verdict], *, probable: bool) -> float:
    if probable:
        return answer.probabilities.get("yes", 0.0)
    return float(answer.value.verdict == "yes")


def _told(answer: Answer[Verdict], value: float) -> dict[str, Json]:
    told: dict[str, Json] = {"value": value, **msgspec.to_builtins(answer.value)}
    if answer.probabilities:
        told["probabilities"] = {**answer.probabilities}
    return told
