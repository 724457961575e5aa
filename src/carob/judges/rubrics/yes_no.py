"""Judges that answer yes or no, and the judge of simulated users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum

import msgspec

from carob.judges.rubrics.aggregate import (
    JudgeFailure,
    PartResult,
    SampledAnswers,
    ScoredPart,
    ask_samples,
    combine_results,
    majority,
)
from carob.judges.rubrics.answers import VerdictAnswer
from carob.judges.rubrics.fence import FencedMaterial
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.rubric import JudgeRubric
from carob.judges.rubrics.subject import Subject
from carob.metrics import Answer, Ask, Outcome, Question
from carob.metrics.turns import TurnPair
from carob.schema import Case, Json, Trace, Turn, Unscored


@dataclass(frozen=True, kw_only=True)
class YesNoJudge(RubricJudge):
    """Asks for yes or no. The result is the majority of the samples, and a tie is a no. If the
    provider reports probabilities, the probability of yes is the score, unless the rubric demands
    votes."""

    async def rate(self, subject: Subject, ask: Ask) -> PartResult:
        material = self._material(subject)
        if isinstance(material, Unscored):
            return material
        question = Question(
            instructions=self._instructions(self.source.text),
            prompt=material.text,
            answer=self._answer_type(),
            decides="verdict",
        )
        sampled = await ask_samples(question, self.sample_count, ask)
        return sampled.failure or _score_samples(self.source, sampled, material)

    def _answer_type(self) -> type[VerdictAnswer]:
        return VerdictAnswer


def _score_samples(
    rubric: JudgeRubric, sampled: SampledAnswers[VerdictAnswer], material: FencedMaterial
) -> ScoredPart:
    answers = sampled.answers
    votes = [answer.value.verdict == "yes" for answer in answers]
    verdict = majority(votes)
    probable = rubric.combine != "majority" and all(answer.probabilities for answer in answers)
    values = [_value(answer, probable=probable) for answer in answers]
    take_mean = probable or rubric.combine == "mean"
    return ScoredPart(
        points=fsum(values) / len(values) if take_mean else float(verdict),
        reason=answers[votes.index(verdict)].value.explanation,
        agreement=votes.count(verdict) / len(votes),
        samples=[_sample(*pair) for pair in zip(answers, values, strict=True)],
        failed=sampled.failures,
        attempts=material.attempts,
        from_probabilities=probable,
    )


def _value(answer: Answer[VerdictAnswer], *, probable: bool) -> float:
    if probable:
        return answer.probabilities.get("yes", 0.0)
    return float(answer.value.verdict == "yes")


def _sample(answer: Answer[VerdictAnswer], value: float) -> dict[str, Json]:
    sample: dict[str, Json] = {"value": value, **msgspec.to_builtins(answer.value)}
    if answer.probabilities:
        sample["probabilities"] = {**answer.probabilities}
    return sample


@dataclass(frozen=True, kw_only=True)
class SimulatorJudge(YesNoJudge):
    """Judges a simulated user. The first message must be the one of the scenario. Every other
    message is judged, and so is the end of the conversation: if it ended too early, the last turn
    fails."""

    stop_signal: str = "</finished>"

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        import asyncio  # late: listing metrics does not need it

        if case.scenario is None:
            return Unscored(reason="the case has no scenario", not_applicable=True)
        if not trace.turns or trace.turns[0].user is None:
            return Unscored(reason="no user message was recorded")
        end = Turn(user=self.stop_signal)
        turns = [*trace.turns[1:], end]
        subjects = [
            Subject(case, trace, TurnPair(number, None, turn))
            for number, turn in enumerate(turns, 2)
        ]
        *later, ended = await asyncio.gather(*[self.rate(subject, ask) for subject in subjects])
        first = _score_first(trace.turns[0].user, case.scenario.prompt)
        return combine_results(_with_end([first, *later], ended), by_turn=True)

    def _material(
        self, subject: Subject, more: Iterable[tuple[str, str]] = ()
    ) -> FencedMaterial | Unscored:
        return super()._material(subject, [("stop_signal", self.stop_signal), *more])

    def _extra_parts(self) -> Iterable[tuple[str, str]]:
        return [("stop_signal", "what the user writes to end the conversation")]


def _score_first(message: str, prompt: str) -> ScoredPart:
    same = message.strip() == prompt.strip()
    reason = "" if same else "the first message is not the scenario's"
    return ScoredPart(points=float(same), reason=reason)


def _with_end(results: list[PartResult], ended: PartResult) -> list[PartResult]:
    """Fail the last turn if the conversation should not have ended there."""
    if isinstance(ended, JudgeFailure):
        return [*results, ended]
    if not isinstance(ended, ScoredPart) or ended.points:
        return results
    reason = f"the conversation should not have ended here: {ended.reason}"
    return [*results[:-1], replace(ended, reason=reason)]
