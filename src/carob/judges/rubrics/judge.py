"""The base class of judges that follow a rubric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from carob.judges.client.answer_type import answer_schema
from carob.judges.rubrics.aggregate import PartResult, ScoredPart, combine_results
from carob.judges.rubrics.fence import FencedMaterial, fence_parts
from carob.judges.rubrics.inputs import INPUTS, Input
from carob.judges.rubrics.prompts import build_instructions
from carob.judges.rubrics.rubric import JudgeRubric, fingerprint
from carob.judges.rubrics.subject import Subject, subjects_by_turn
from carob.metrics import Ask, Judge, Outcome
from carob.schema import Case, Trace, Unscored

MAX_SAMPLES = 25
Samples: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_SAMPLES)]


class RubricInput(NamedTuple):
    """An input of a rubric."""

    input: Input
    required: bool = True
    default: str | None = None
    """The text to show if the input is missing."""

    def read(self, subject: Subject) -> str | None:
        text = self.input.read(subject)
        return self.default if text is None else text


def rubric_inputs(rubric: JudgeRubric) -> tuple[RubricInput, ...]:
    """Return the inputs that a rubric names."""
    return (
        *(RubricInput(INPUTS[name]) for name in rubric.inputs),
        *(RubricInput(INPUTS[name], required=False) for name in rubric.optional),
    )


@dataclass(frozen=True, kw_only=True)
class RubricJudge(Judge):
    """A judge that follows a rubric. There is a subclass for each kind of rubric, which knows how
    to ask, and below it one for each rubric, which holds its text."""

    source: ClassVar[JudgeRubric]
    parts: ClassVar[tuple[RubricInput, ...]] = ()
    agents: ClassVar[tuple[str, ...]] = ()
    """The agents that the judge scores; empty for all."""
    items_key: ClassVar[str] = ""
    """The key in the details for the items that are scored one by one."""

    samples: Samples = 1
    model: str | None = None

    @property
    def prompt(self) -> str:
        schema = msgspec.json.encode(answer_schema(self._answer_type()))
        return fingerprint(self._instructions(""), schema)

    @property
    def rubric(self) -> str:
        return self.source.digest

    @property
    def judge_model(self) -> str | None:
        return self.model or self.source.model

    @property
    def sample_count(self) -> int:
        """How often each question is asked."""
        return self.samples

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        import asyncio  # late: listing metrics does not need it

        if not self._applies_to(case, trace):
            names = ", ".join(map(repr, self.agents))
            agents = "agent" if len(self.agents) == 1 else "agents"
            return Unscored(
                reason=f"not applicable: this judge only scores the {agents} {names}",
                not_applicable=True,
            )
        by_turn = self.source.per == "turn"
        subjects = [*subjects_by_turn(case, trace)] if by_turn else [Subject(case, trace)]
        results = await asyncio.gather(*[self._rate_turn(subject, ask) for subject in subjects])
        return combine_results(results, by_turn=by_turn, items_key=self.items_key)

    async def rate(self, subject: Subject, ask: Ask) -> PartResult:
        """Score one turn, or the whole conversation."""
        raise NotImplementedError

    async def _rate_turn(self, subject: Subject, ask: Ask) -> PartResult:
        # A turn with an expected response that never took place gets the lowest score. Without
        # this it would be unscored, and an agent that stops early would score better.
        pair = subject.pair
        expected = pair is not None and pair.golden is not None and pair.golden.response is not None
        if (
            pair is not None
            and pair.actual is None
            and expected
            and "reference" in self.source.inputs
        ):
            return ScoredPart(points=self.source.low, reason="the turn is missing")
        # If the case does not ask for the judge, it does not matter what the trace lacks.
        for part in self._shown_parts():
            if part.required and part.input.of_case and part.read(subject) is None:
                return Unscored(reason=part.input.missing_reason, not_applicable=True)
        return await self.rate(subject, ask)

    def _material(
        self, subject: Subject, more: Iterable[tuple[str, str]] = ()
    ) -> FencedMaterial | Unscored:
        """Return the material that the judge sees, or the reason why an input is missing."""
        read = [(part, part.read(subject)) for part in self._shown_parts()]
        for part, text in read:
            if text is None and part.required:
                missing = part.input
                return Unscored(reason=missing.missing_reason, not_applicable=missing.of_case)
        texts = {part.input.name: text for part, text in read if text is not None}
        if not texts:
            return Unscored(reason="none of the inputs of this judge was recorded")
        return fence_parts({**texts, **dict(more)})

    def _instructions(self, rubric: str) -> str:
        """Return the system prompt with this text as the rubric."""
        shown = [(part.input.name, part.input.meaning) for part in self._shown_parts()]
        score = "a whole number" if self.source.whole else "a number"
        scale = f"{score} from {self.source.low:g} to {self.source.high:g}"
        return build_instructions(self.source.kind, rubric, [*shown, *self._extra_parts()], scale)

    def _shown_parts(self) -> Iterable[RubricInput]:
        """Return the inputs that are shown as they are."""
        return self.parts

    def _extra_parts(self) -> Iterable[tuple[str, str]]:
        """Return name and meaning of the parts that the judge itself adds to the material."""
        return ()

    def _answer_type(self) -> type[msgspec.Struct]:
        raise NotImplementedError

    def _applies_to(self, case: Case, trace: Trace) -> bool:
        """Compare with the agents of the case, or else with those of the trace."""
        agents = case.agents if case.agents is not None else trace.agents
        return not self.agents or not agents or not {*self.agents}.isdisjoint(agents)
