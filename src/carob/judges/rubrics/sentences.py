"""Judges that check each sentence of a response against the sources that the agent had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar, NamedTuple

import msgspec

from carob.judges.rubrics import formatting
from carob.judges.rubrics.aggregate import (
    JudgeFailure,
    PartResult,
    ScoredPart,
    ask_samples,
    majority,
)
from carob.judges.rubrics.answers import (
    GOOD_LABELS,
    LabelAnswer,
    SupportLabel,
    labels_type,
    list_labels,
)
from carob.judges.rubrics.judge import RubricInput, RubricJudge
from carob.judges.rubrics.subject import Subject
from carob.metrics import Ask, Question
from carob.schema import Failed, Json, Unscored
from carob.text.facts.clauses import split_sentences

GROUP_SIZE = 10
"""Sentences per question."""
_MAX_SENTENCES = 300
_MAX_QUOTED = 200
_JUDGED_INPUT = "response"


class _JudgedSentence(NamedTuple):
    """A sentence and the label of each sample."""

    sentence: str
    labels: Sequence[LabelAnswer]

    @property
    def votes(self) -> list[bool]:
        return [answer.label in GOOD_LABELS for answer in self.labels]

    @property
    def is_supported(self) -> bool:
        return majority(self.votes)

    @property
    def deciding(self) -> LabelAnswer:
        """The first label that agrees with the majority."""
        return self.labels[self.votes.index(self.is_supported)]


@dataclass(frozen=True, kw_only=True)
class _JudgedSentences:
    """The result of one question."""

    judged: Sequence[_JudgedSentence]
    samples: Sequence[dict[str, Json]]
    failed: Sequence[Failed]
    attempts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SentenceJudge(RubricJudge):
    """Asks for each sentence whether the sources support it. The score is the share of sentences
    that are supported or make no claim. The majority of the samples decides."""

    items_key: ClassVar[str] = "sentences"

    evaluate_intermediate_nl_responses: bool = False

    async def rate(self, subject: Subject, ask: Ask) -> PartResult:
        import asyncio  # late: listing metrics does not need it

        texts = self._texts_to_check(subject)
        if texts is None:
            return Unscored(reason="the response was not recorded")
        split = [sentences for text in texts if (sentences := _sentences(text))]
        if not split:
            return Unscored(reason="the response has no sentences", not_applicable=True)
        count = sum(map(len, split))
        if count > _MAX_SENTENCES:
            reason = f"the response has too many sentences: {count}, at most {_MAX_SENTENCES}"
            return Unscored(reason=reason)
        groups = [
            (index, sentences[start : start + GROUP_SIZE])
            for index, sentences in enumerate(split)
            for start in range(0, len(sentences), GROUP_SIZE)
        ]
        results = await asyncio.gather(
            *[self._ask_group(group, subject, ask) for _, group in groups]
        )
        return _merge_groups([index for index, _ in groups], results)

    async def _ask_group(
        self, group: Sequence[str], subject: Subject, ask: Ask
    ) -> _JudgedSentences | JudgeFailure | Unscored:
        lines = [formatting.with_heading(f"sentence_{n}", text) for n, text in enumerate(group, 1)]
        material = self._material(subject, [("sentences", "\n".join(lines))])
        if isinstance(material, Unscored):
            return material
        question = Question(
            instructions=self._instructions(self.source.text),
            prompt=material.text,
            answer=labels_type(len(group)),
        )
        sampled = await ask_samples(question, self.sample_count, ask)
        if (failure := sampled.failure) is not None:
            return failure
        samples = [list_labels(answer.value) for answer in sampled.answers]
        return _JudgedSentences(
            judged=[
                _JudgedSentence(text, [*labels])
                for text, labels in zip(group, zip(*samples, strict=True), strict=True)
            ],
            samples=[{"labels": [answer.label for answer in sample]} for sample in samples],
            failed=sampled.failures,
            attempts=material.attempts,
        )

    def _texts_to_check(self, subject: Subject) -> list[str] | None:
        """Return the texts to check. Each counts as much as any other."""
        read = [part.read(subject) for part in self.parts if part.input.name == _JUDGED_INPUT]
        response = next((text for text in read if text is not None), None)
        if response is None:
            return None
        messages = [message.text for turn in subject.actual_turns for message in turn.messages]
        return [*messages, response] if self.evaluate_intermediate_nl_responses else [response]

    def _shown_parts(self) -> Iterable[RubricInput]:
        """Return all inputs but the response, which is judged and not a source."""
        return [part for part in self.parts if part.input.name != _JUDGED_INPUT]

    def _extra_parts(self) -> Iterable[tuple[str, str]]:
        return [("sentences", "the sentences of the agent that are to be labelled")]

    def _answer_type(self) -> type[msgspec.Struct]:
        return labels_type(1)


def _sentences(text: str) -> list[str]:
    """Return the sentences with at least one letter or digit, so not the rules of a table."""
    return [part for part in split_sentences(text) if any(letter.isalnum() for letter in part)]


def _merge_groups(
    texts: Sequence[int], results: Sequence[_JudgedSentences | JudgeFailure | Unscored]
) -> PartResult:
    groups: list[_JudgedSentences] = []
    for result in results:
        if isinstance(result, JudgeFailure | Unscored):
            return result
        groups.append(result)
    by_text: dict[int, list[_JudgedSentence]] = {}
    for text, group in zip(texts, groups, strict=True):
        by_text.setdefault(text, []).extend(group.judged)
    shares = [sum(item.is_supported for item in items) / len(items) for items in by_text.values()]
    judged = [item for items in by_text.values() for item in items]
    agreed = [item.votes.count(item.is_supported) / len(item.votes) for item in judged]
    return ScoredPart(
        points=fsum(shares) / len(shares),
        reason=_reason([item for item in judged if not item.is_supported]),
        agreement=sum(agreed) / len(agreed),
        samples=[sample for group in groups for sample in group.samples],
        failed=[failure for group in groups for failure in group.failed],
        attempts=[*dict.fromkeys(attempt for group in groups for attempt in group.attempts)],
        items=[_detail(item) for item in judged],
    )


def _reason(unsupported: Sequence[_JudgedSentence]) -> str:
    return "; ".join(f"{item.deciding.label}: {_shorten(item.sentence)!r}" for item in unsupported)


def _detail(item: _JudgedSentence) -> dict[str, Json]:
    labels: list[SupportLabel] = [answer.label for answer in item.labels]
    return {
        "sentence": _shorten(item.sentence),
        "label": item.deciding.label,
        "votes": [*labels],
        "explanation": item.deciding.explanation,
    }


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 1]}…"
