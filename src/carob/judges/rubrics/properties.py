"""Judges that answer yes or no to each of several properties.

The properties come from the rubric, from the user's settings, and from golden data for the case or
the turn. Only those of the rubric are instructions. The others are untrusted material: statements
to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

import msgspec

from carob.judges.rubrics import formatting
from carob.judges.rubrics.aggregate import (
    JudgeFailure,
    PartResult,
    ScoredPart,
    ask_samples,
    majority,
)
from carob.judges.rubrics.answers import VerdictAnswer, list_verdicts, verdicts_type
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.rubric import JudgeRubric, fingerprint
from carob.judges.rubrics.subject import Subject
from carob.metrics import Ask, Question
from carob.schema import Failed, Json, Unscored
from carob.schema import Rubric as Property

GROUP_SIZE = 10
"""Properties per question: the verdicts on more would not fit into one answer."""
_MAX_PROPERTIES = 100
_MEANING = (
    "further properties to be judged, each under its name; a property is a statement that holds or "
    "does not, and nothing else"
)


class _PropertyGroup(NamedTuple):
    """Properties of one question."""

    own: Sequence[Property]
    further: Sequence[Property]
    """Properties that are not the rubric's own."""

    @property
    def all(self) -> list[Property]:
        return [*self.own, *self.further]


class _JudgedProperty(NamedTuple):
    """A property, the votes of the samples, and the first explanation that agrees with them."""

    statement: Property
    votes: Sequence[bool]
    explanation: str

    @property
    def holds(self) -> bool:
        return majority(self.votes)


@dataclass(frozen=True, kw_only=True)
class _JudgedGroup:
    """The result of one question."""

    judged: Sequence[_JudgedProperty]
    samples: Sequence[dict[str, Json]]
    failed: Sequence[Failed]
    attempts: Sequence[str]


_GroupResult: TypeAlias = _JudgedGroup | JudgeFailure | Unscored


@dataclass(frozen=True, kw_only=True)
class PropertyJudge(RubricJudge):
    """Asks for yes or no to each property. The score is the share of properties that hold. The
    majority of the samples decides about each property, and a tie is a no."""

    items_key: ClassVar[str] = "rubrics"

    rubrics: list[Json] = field(default_factory=list[Json])

    def __post_init__(self) -> None:
        parse_properties(self.rubrics)

    @property
    def rubric(self) -> str:
        properties = msgspec.json.encode(parse_properties(self.rubrics))
        return fingerprint(self.source.digest, properties) if self.rubrics else self.source.digest

    async def rate(self, subject: Subject, ask: Ask) -> PartResult:
        import asyncio  # late: listing metrics does not need it

        further = [*self._further_properties(subject)]
        count = len(self.source.properties) + len(further)
        if not count:
            return Unscored(
                reason="neither the case nor the settings have rubrics", not_applicable=True
            )
        if count > _MAX_PROPERTIES:
            return Unscored(reason=f"too many rubrics: {count}, at most {_MAX_PROPERTIES}")
        groups = _split_groups(self.source.properties, further)
        results = await asyncio.gather(*[self._ask_group(group, subject, ask) for group in groups])
        return _merge_groups(results)

    async def _ask_group(self, group: _PropertyGroup, subject: Subject, ask: Ask) -> _GroupResult:
        material = self._material(subject, _further_part(group))
        if isinstance(material, Unscored):
            return material
        rubric = msgspec.structs.replace(self.source, properties=tuple(group.own))
        question = Question(
            instructions=self._instructions(rubric.text),
            prompt=material.text,
            answer=verdicts_type(len(group.all)),
        )
        sampled = await ask_samples(question, self.sample_count, ask)
        if (failure := sampled.failure) is not None:
            return failure
        samples = [list_verdicts(answer.value) for answer in sampled.answers]
        by_property = zip(group.all, zip(*samples, strict=True), strict=True)
        return _JudgedGroup(
            judged=[_judge_property(*pair) for pair in by_property],
            samples=[_sample(group.all, verdicts) for verdicts in samples],
            failed=sampled.failures,
            attempts=material.attempts,
        )

    def _further_properties(self, subject: Subject) -> Iterator[Property]:
        """Yield the properties from settings and golden data, without duplicates."""
        candidates = [*parse_properties(self.rubrics), *_golden_properties(self.source, subject)]
        used = {(item.id, item.text) for item in self.source.properties}
        for item in candidates:
            if (item.id, item.text) not in used:
                used.add((item.id, item.text))
                yield item

    def _extra_parts(self) -> Iterable[tuple[str, str]]:
        may_have_further = self.source.takes is not None or self.rubrics
        return [("properties", _MEANING)] if may_have_further else []

    def _answer_type(self) -> type[msgspec.Struct]:
        return verdicts_type(1)


def _golden_properties(rubric: JudgeRubric, subject: Subject) -> Iterator[Property]:
    """Yield the rubrics of the case and of its turns. One without a type is for every metric."""
    if rubric.takes is None:
        return
    of_turns = [item for turn in subject.golden_turns for item in turn.rubrics]
    golden = [*subject.case.rubrics, *of_turns]
    yield from (item for item in golden if item.type in (None, rubric.takes))


def _split_groups(own: Sequence[Property], further: Sequence[Property]) -> list[_PropertyGroup]:
    all_properties = [*((item, True) for item in own), *((item, False) for item in further)]
    starts = range(0, len(all_properties), GROUP_SIZE)
    chunks = [all_properties[start : start + GROUP_SIZE] for start in starts]
    return [
        _PropertyGroup(
            [item for item, is_own in chunk if is_own],
            [item for item, is_own in chunk if not is_own],
        )
        for chunk in chunks
    ]


def _further_part(group: _PropertyGroup) -> list[tuple[str, str]]:
    """Return the properties that are not the rubric's own, as a part of the material."""
    numbered = enumerate(group.further, len(group.own) + 1)
    lines = [formatting.with_heading(f"property_{number}", item.text) for number, item in numbered]
    return [("properties", "\n".join(lines))] if lines else []


def _judge_property(item: Property, verdicts: Sequence[VerdictAnswer]) -> _JudgedProperty:
    votes = [verdict.verdict == "yes" for verdict in verdicts]
    return _JudgedProperty(item, votes, verdicts[votes.index(majority(votes))].explanation)


def _sample(properties: Sequence[Property], verdicts: Sequence[VerdictAnswer]) -> dict[str, Json]:
    pairs = zip(properties, verdicts, strict=True)
    return {"verdicts": {item.id: verdict.verdict for item, verdict in pairs}}


def _merge_groups(results: Sequence[_GroupResult]) -> PartResult:
    groups: list[_JudgedGroup] = []
    for result in results:
        if isinstance(result, JudgeFailure | Unscored):
            return result
        groups.append(result)
    judged = [item for group in groups for item in group.judged]
    missed = [f"{item.statement.id}: {item.explanation}" for item in judged if not item.holds]
    agreed = [item.votes.count(item.holds) / len(item.votes) for item in judged]
    return ScoredPart(
        points=sum(item.holds for item in judged),
        out_of=len(judged),
        reason=f"not met: {'; '.join(missed)}" if missed else "",
        agreement=sum(agreed) / len(agreed),
        samples=[sample for group in groups for sample in group.samples],
        failed=[failure for group in groups for failure in group.failed],
        attempts=[*dict.fromkeys(attempt for group in groups for attempt in group.attempts)],
        items=[_detail(item) for item in judged],
    )


def _detail(item: _JudgedProperty) -> dict[str, Json]:
    return {
        "id": item.statement.id,
        "text": item.statement.text,
        "verdict": "yes" if item.holds else "no",
        "votes": [*item.votes],
        "explanation": item.explanation,
    }


def parse_properties(values: Iterable[Json]) -> list[Property]:
    """Return the properties. Raises `ValueError` that names the invalid one."""
    return [_property(index, value) for index, value in enumerate(values)]


def _property(index: int, value: Json) -> Property:
    where = f"rubrics[{index}]"
    if isinstance(value, str):
        return Property(id=f"rubric_{index}", text=_non_empty(value, where))
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected a text or an object, got {value!r:.60}")
    fields = {_snake(key): item for key, item in value.items()}
    content = fields.get("rubric_content")
    inner = (
        {_snake(key): item for key, item in content.items()} if isinstance(content, dict) else {}
    )
    text, name = (
        fields.get("text", inner.get("text_property")),
        fields.get("id", fields.get("rubric_id")),
    )
    kind = fields.get("type")
    if text is None:
        raise ValueError(f"{where}: missing 'text' or 'rubric_content.text_property'")
    if kind is not None and not isinstance(kind, str):
        raise ValueError(f"{where}.type: expected text, got {kind!r:.60}")
    return Property(
        id=_non_empty(f"rubric_{index}" if name is None else name, f"{where}.id"),
        text=_non_empty(text, f"{where}.text"),
        type=kind,
    )


def _non_empty(value: Json, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: expected a non-empty text, got {value!r:.60}")
    return value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
