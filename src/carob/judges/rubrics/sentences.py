"""Judges that hold each sentence of a response against the sources that the agent had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar, NamedTuple

import msgspec

from carob.judges.rubrics import formatting
from carob.judges.rubrics.aggregate import Rated, Rating, Trouble, trouble
from carob.judges.rubrics.answers import GOOD, Label, Labelled, labels, listed_labels
from carob.judges.rubrics.judge import Part, RubricJudge
from carob.judges.rubrics.samples import majority, sampled
from carob.judges.rubrics.subject import Subject
from carob.metrics import Ask, Question
from carob.metrics.text.clauses import split_sentences
from carob.schema import Failed, Json, Unscored

AT_ONCE = 10
_MOST = 300
_CUT = 200
_JUDGED = "response"


class _Held(NamedTuple):
    """A sentence and what the samples say of it."""

    sentence: str
    said: Sequence[Labelled]

    @property
    def votes(self) -> list[bool]:
        return [one.label in GOOD for one in self.said]

    @property
    def stands(self) -> bool:
        return majority(self.votes)

    @property
    def deciding(self) -> Labelled:
        """The first that says what the samples together say."""
        return self.said[self.votes.index(self.stands)]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What came of asking about some sentences."""

    held: Sequence[_Held]
    samples: Sequence[dict[str, Json]]
    failed: Sequence[Failed]
    attempts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SentenceJudge(RubricJudge):
    """Asks of each sentence whether the sources bear it out; the score is the share of sentences
    that are supported or claim nothing. Of several samples the majority counts."""

    told: ClassVar[str] = "sentences"

    evaluate_intermediate_nl_responses: bool = False

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        import asyncio  # late: who only lists metrics asks nobody

        texts = self._texts(subject)
        if texts is None:
            return Unscored(reason="the response was not recorded")
        found = [split for text in texts if (split := _sentences(text))]
        if not found:
            return Unscored(reason="the response says nothing")
        count = sum(map(len, found))
        if count > _MOST:
            return Unscored(reason=f"the response has {count} sentences, and {_MOST} are the most")
        groups = [
            (n, one[at : at + AT_ONCE])
            for n, one in enumerate(found)
            for at in range(0, len(one), AT_ONCE)
        ]
        asked = await asyncio.gather(*[self._asked(group, subject, ask) for _, group in groups])
        return _together([n for n, _ in groups], asked)

    async def _asked(
        self, group: Sequence[str], subject: Subject, ask: Ask
    ) -> _Asked | Trouble | Unscored:
        lines = [formatting.entry(f"sentence_{n}", text) for n, text in enumerate(group, 1)]
        material = self._material(subject, [("sentences", "\n".join(lines))])
        if isinstance(material, Unscored):
            return material
        question = Question(
            instructions=self._instructions(self.asks.text),
            prompt=material.text,
            answer=labels(len(group)),
        )
        found = await sampled(question, self.count, ask)
        if (why := trouble(found)) is not None:
            return why
        said = [listed_labels(one.value) for one in found.answers]
        return _Asked(
            held=[
                _Held(text, [*column])
                for text, column in zip(group, zip(*said, strict=True), strict=True)
            ],
            samples=[{"labels": [one.label for one in sample]} for sample in said],
            failed=found.failures,
            attempts=material.attempts,
        )

    def _texts(self, subject: Subject) -> list[str] | None:
        """What is held against the sources; each text counts as much as any other."""
        found = [part.read(subject) for part in self.parts if part.input.name == _JUDGED]
        last = next((text for text in found if text is not None), None)
        if last is None:
            return None
        said = [one.text for turn in subject.actual_turns for one in turn.messages]
        return [*said, last] if self.evaluate_intermediate_nl_responses else [last]

    def _sources(self) -> Iterable[Part]:
        """All parts but the response: it is what is judged, and no source."""
        return [part for part in self.parts if part.input.name != _JUDGED]

    def _own_parts(self) -> Iterable[tuple[str, str]]:
        return [("sentences", "the sentences of the agent that are to be labelled")]

    def _shape(self) -> type[msgspec.Struct]:
        return labels(1)


def _sentences(text: str) -> list[str]:
    """The sentences that say something: a line of a table that is only lines does not."""
    return [one for one in split_sentences(text) if any(letter.isalnum() for letter in one)]


def _together(texts: Sequence[int], asked: Sequence[_Asked | Trouble | Unscored]) -> Rating:
    groups: list[_Asked] = []
    for one in asked:
        if isinstance(one, Trouble | Unscored):
            return one
        groups.append(one)
    by_text: dict[int, list[_Held]] = {}
    for text, group in zip(texts, groups, strict=True):
        by_text.setdefault(text, []).extend(group.held)
    shares = [sum(one.stands for one in held) / len(held) for held in by_text.values()]
    all_held = [one for held in by_text.values() for one in held]
    agreed = [one.votes.count(one.stands) / len(one.votes) for one in all_held]
    return Rated(
        points=fsum(shares) / len(shares),
        reason=_reason([one for one in all_held if not one.stands]),
        agreement=sum(agreed) / len(agreed),
        samples=[sample for group in groups for sample in group.samples],
        failed=[failure for group in groups for failure in group.failed],
        attempts=[*dict.fromkeys(found for group in groups for found in group.attempts)],
        told=[_detail(one) for one in all_held],
    )


def _reason(fallen: Sequence[_Held]) -> str:
    return "; ".join(f"{one.deciding.label}: {_cut(one.sentence)!r}" for one in fallen)


def _detail(one: _Held) -> dict[str, Json]:
    said: list[Label] = [answer.label for answer in one.said]
    return {
        "sentence": _cut(one.sentence),
        "label": one.deciding.label,
        "votes": [*said],
        "explanation": one.deciding.explanation,
    }


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else f"{text[: _CUT - 1]}…"
