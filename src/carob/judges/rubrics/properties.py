"""Judges that answer yes or no to each of several properties: those of the rubric, those that the
user's settings name, and those that golden data names for the case or the turn.

Only the rubric's own properties are instructions. The others are material: a statement to check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

import msgspec

from carob.judges.rubrics import formatting
from carob.judges.rubrics.aggregate import Rated, Rating, Trouble, trouble
from carob.judges.rubrics.answers import Verdict, listed_verdicts, verdicts
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.parameters import given_properties
from carob.judges.rubrics.rubric import Rubric, fingerprint
from carob.judges.rubrics.samples import majority, sampled
from carob.judges.rubrics.subject import Subject
from carob.metrics import Ask, Question
from carob.schema import Failed, Json, Unscored
from carob.schema import Rubric as Property

AT_ONCE = 10
"""Properties in one question: more would not fit into one answer."""
_MOST = 100
_MEANING = (
    "further properties to be judged, each under its name; a property is a statement that holds or "
    "does not, and nothing else"
)


class _Group(NamedTuple):
    """Properties that are asked about together."""

    own: Sequence[Property]
    others: Sequence[Property]

    @property
    def all(self) -> list[Property]:
        return [*self.own, *self.others]


class _Judged(NamedTuple):
    """A property, what the samples say of it, and why the first that agrees with them says so."""

    asked: Property
    votes: Sequence[bool]
    why: str

    @property
    def holds(self) -> bool:
        return majority(self.votes)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What came of asking about a group."""

    judged: Sequence[_Judged]
    samples: Sequence[dict[str, Json]]
    failed: Sequence[Failed]
    attempts: Sequence[str]


_Answered: TypeAlias = _Asked | Trouble | Unscored


@dataclass(frozen=True, kw_only=True)
class PropertyJudge(RubricJudge):
    """Asks for yes or no to each property; the score is the share of those that hold. Of several
    samples the majority counts, property by property, and a tie loses."""

    told: ClassVar[str] = "rubrics"

    rubrics: list[Json] = field(default_factory=list[Json])

    def __post_init__(self) -> None:
        given_properties(self.rubrics)

    @property
    def rubric(self) -> str:
        given = msgspec.json.encode(given_properties(self.rubrics))
        return fingerprint(self.asks.digest, given) if self.rubrics else self.asks.digest

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        import asyncio  # late: who only lists metrics asks nobody

        others = [*self._others(subject)]
        count = len(self.asks.properties) + len(others)
        if not count:
            return Unscored(reason="no rubrics are given, neither by the case nor by settings")
        if count > _MOST:
            return Unscored(reason=f"there are {count} rubrics, and {_MOST} are the most")
        groups = _groups(self.asks.properties, others)
        asked = await asyncio.gather(*[self._asked(group, subject, ask) for group in groups])
        return _together(asked)

    async def _asked(self, group: _Group, subject: Subject, ask: Ask) -> _Answered:
        material = self._material(subject, _listed(group))
        if isinstance(material, Unscored):
            return material
        rubric = msgspec.structs.replace(self.asks, properties=tuple(group.own))
        question = Question(
            instructions=self._instructions(rubric.text),
            prompt=material.text,
            answer=verdicts(len(group.all)),
        )
        found = await sampled(question, self.count, ask)
        if (why := trouble(found)) is not None:
            return why
        said = [listed_verdicts(one.value) for one in found.answers]
        return _Asked(
            judged=[_judged(*one) for one in zip(group.all, zip(*said, strict=True), strict=True)],
            samples=[_told(group.all, one) for one in said],
            failed=found.failures,
            attempts=material.attempts,
        )

    def _others(self, subject: Subject) -> Iterator[Property]:
        """The properties that are not the rubric's own, each once."""
        named = [*given_properties(self.rubrics), *_of_data(self.asks, subject)]
        seen = {(one.id, one.text) for one in self.asks.properties}
        for one in named:
            if (one.id, one.text) not in seen:
                seen.add((one.id, one.text))
                yield one

    def _own_parts(self) -> Iterable[tuple[str, str]]:
        may_have = self.asks.takes is not None or self.rubrics
        return [("properties", _MEANING)] if may_have else []

    def _shape(self) -> type[msgspec.Struct]:
        return verdicts(1)


def _of_data(rubric: Rubric, subject: Subject) -> Iterator[Property]:
    """What golden data asks of the case and of its turns. A rubric that names no type is for every
    metric."""
    if rubric.takes is None:
        return
    turns = [one for turn in subject.golden_turns for one in turn.rubrics]
    yield from (one for one in [*subject.case.rubrics, *turns] if one.type in (None, rubric.takes))


def _groups(own: Sequence[Property], others: Sequence[Property]) -> list[_Group]:
    named = [*((one, True) for one in own), *((one, False) for one in others)]
    starts = range(0, len(named), AT_ONCE)
    parts = [named[start : start + AT_ONCE] for start in starts]
    return [
        _Group([one for one, ours in part if ours], [one for one, ours in part if not ours])
        for part in parts
    ]


def _listed(group: _Group) -> list[tuple[str, str]]:
    """The properties that are not the rubric's own, as a part of the material."""
    numbered = enumerate(group.others, len(group.own) + 1)
    lines = [formatting.entry(f"property_{number}", one.text) for number, one in numbered]
    return [("properties", "\n".join(lines))] if lines else []


def _judged(one: Property, said: Sequence[Verdict]) -> _Judged:
    votes = [answer.verdict == "yes" for answer in said]
    return _Judged(one, votes, said[votes.index(majority(votes))].explanation)


def _told(properties: Sequence[Property], said: Sequence[Verdict]) -> dict[str, Json]:
    named = zip(properties, said, strict=True)
    return {"verdicts": {one.id: answer.verdict for one, answer in named}}


def _together(asked: Sequence[_Answered]) -> Rating:
    groups: list[_Asked] = []
    for one in asked:
        if isinstance(one, Trouble | Unscored):
            return one
        groups.append(one)
    judged = [one for group in groups for one in group.judged]
    missed = [f"{one.asked.id}: {one.why}" for one in judged if not one.holds]
    agreed = [one.votes.count(one.holds) / len(one.votes) for one in judged]
    return Rated(
        points=sum(one.holds for one in judged),
        out_of=len(judged),
        reason=f"not met: {'; '.join(missed)}" if missed else "",
        agreement=sum(agreed) / len(agreed),
        samples=[sample for group in groups for sample in group.samples],
        failed=[failure for group in groups for failure in group.failed],
        attempts=[*dict.fromkeys(found for group in groups for found in group.attempts)],
        told=[_detail(one) for one in judged],
    )


def _detail(one: _Judged) -> dict[str, Json]:
    return {
        "id": one.asked.id,
        "text": one.asked.text,
        "verdict": "yes" if one.holds else "no",
        "votes": [*one.votes],
        "explanation": one.why,
    }
