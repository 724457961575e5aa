"""A judge of our own and a model that answers by rule, in place of one that must be called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
import pytest

from carob import plugins
from carob.judges.model import JudgeRequest
from carob.metrics import Answer, Ask, Judge, Outcome, Question
from carob.schema import Case, JudgeSettings, Score, Trace, Unscored
from tests.judges.client.scripted_model import ScriptedModel


class _Verdict(msgspec.Struct, frozen=True):
    reason: str
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]


@dataclass(frozen=True, kw_only=True)
class Tone(Judge):
    """Is the answer friendly?"""

    name: ClassVar[str] = "test_tone"
    version: ClassVar[int] = 1
    scale: ClassVar[tuple[float, float | None]] = (1.0, 5.0)
    threshold: ClassVar[float | None] = 4.0

    @property
    def prompt(self) -> str:
        return "sha256:prompt"

    @property
    def rubric(self) -> str:
        return "sha256:rubric"

    @property
    def judge_model(self) -> str | None:
        return None

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        response = trace.turns[0].response
        if not response:
            return Unscored(reason="there is no answer")
        answer = await ask(Question(instructions="Judge.", prompt=response, answer=_Verdict))
        if not isinstance(answer, Answer):
            return answer
        return Score(value=float(answer.value.score), reason=answer.value.reason)


def install(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """`test_tone` and a model that finds thanks friendly, for one test."""
    model = ScriptedModel(replies=_answer)

    def opened(choice: JudgeSettings, _: object) -> ScriptedModel:
        model.name = choice.model
        return model

    monkeypatch.setitem(plugins.METRICS, "test_tone", "tests.api.judging:Tone")
    monkeypatch.setattr("carob.judges.providers.open.open_model", opened)
    return model


def _answer(request: JudgeRequest) -> str:
    friendly = "thank" in request.messages[-1].text.lower()
    return f'{{"reason": "{"thanks" if friendly else "curt"}", "score": {5 if friendly else 2}}}'
