from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from carob.judges.client.answer_type import answer_schema
from carob.judges.rubrics.aggregate import Rated, Rating, together
from carob.judges.rubrics.fence import Fenced, fenced
from carob.judges.rubrics.inputs import INPUTS, Input
from carob.judges.rubrics.prompts import instructions
from carob.judges.rubrics.rubric import Rubric, fingerprint
from carob.judges.rubrics.subject import Subject, subjects_by_turn
from carob.metrics import Ask, Judge, Outcome
from carob.schema import Case, Trace, Unscored

MOST = 25
Samples: TypeAlias = Annotated[int, Meta(ge=1, le=MOST)]


class Part(NamedTuple):
    """An input as a judge uses it."""

    input: Input
    required: bool = True
    default: str | None = None
    """What is shown in its place where it is not there."""

    def read(self, subject: Subject) -> str | None:
        found = self.input.read(subject)
        return self.default if found is None else found


def parts_of(rubric: Rubric) -> tuple[Part, ...]:
    """The parts that a rubric names."""
    return (
        *(Part(INPUTS[name]) for name in rubric.inputs),
        *(Part(INPUTS[name], required=False) for name in rubric.optional),
    )


@dataclass(frozen=True, kw_only=True)
class RubricJudge(Judge):
    """Judges by a rubric. For each kind of rubric there is a class that knows how to ask, and for
    each rubric one that has its words."""

    asks: ClassVar[Rubric]
    parts: ClassVar[tuple[Part, ...]] = ()
    agents: ClassVar[tuple[str, ...]] = ()
    """The agents that it is for; none is "for all"."""
    told: ClassVar[str] = ""
    """What it is called in the details that is scored one by one."""

    samples: Samples = 1
    model: str | None = None

    @property
    def prompt(self) -> str:
        return fingerprint(
            self._instructions(""), msgspec.json.encode(answer_schema(self._shape()))
        )

    @property
    def rubric(self) -> str:
        return self.asks.digest

    @property
    def judge_model(self) -> str | None:
        return self.model or self.asks.model

    @property
    def count(self) -> int:
        """How often each question is asked."""
        return self.samples

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        import asyncio  # late: who only lists metrics asks nobody

        if not self._is_for(case, trace):
            return Unscored(reason=f"it is for {', '.join(self.agents)}, and the case is not")
        turns = self.asks.per == "turn"
        subjects = [*subjects_by_turn(case, trace)] if turns else [Subject(case, trace)]
        rated = await asyncio.gather(*[self._rate_or_miss(subject, ask) for subject in subjects])
        return together(rated, by_turn=turns, told=self.told)

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        """What the judge says of a turn, or of the conversation."""
        raise NotImplementedError

    async def _rate_or_miss(self, subject: Subject, ask: Ask) -> Rating:
        pair = subject.pair
        expected = pair is not None and pair.golden is not None and pair.golden.response is not None
        if (
            pair is not None
            and pair.actual is None
            and expected
            and "reference" in self.asks.inputs
        ):
            return Rated(points=self.asks.low, reason="the turn is missing")
        return await self.rate(subject, ask)

    def _material(
        self, subject: Subject, more: Iterable[tuple[str, str]] = ()
    ) -> Fenced | Unscored:
        """What the judge is shown; or what is missing."""
        found = [(part, part.read(subject)) for part in self._sources()]
        for part, text in found:
            if text is None and part.required:
                return Unscored(reason=part.input.lacking)
        texts = {part.input.name: text for part, text in found if text is not None}
        if not texts:
            return Unscored(reason="nothing of what it looks at was recorded")
        return fenced({**texts, **dict(more)})

    def _instructions(self, rubric: str) -> str:
        """What the judge is told to do, with these words for the rubric."""
        listed = [(part.input.name, part.input.meaning) for part in self._sources()]
        score = "a whole number" if self.asks.whole else "a number"
        scale = f"{score} from {self.asks.low:g} to {self.asks.high:g}"
        return instructions(self.asks.kind, rubric, [*listed, *self._own_parts()], scale)

    def _sources(self) -> Iterable[Part]:
        """The parts that are shown as they are."""
        return self.parts

    def _own_parts(self) -> Iterable[tuple[str, str]]:
        """Parts that the judge itself adds to the material."""
        return ()

    def _shape(self) -> type[msgspec.Struct]:
        """The shape of an answer."""
        raise NotImplementedError

    def _is_for(self, case: Case, trace: Trace) -> bool:
        """Golden data says which agents a case is about, else the recording does."""
        about = case.agents if case.agents is not None else trace.agents
        return not self.agents or not about or not {*self.agents}.isdisjoint(about)
