"""The `hallucination` and `grounding_utilization` metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.limits import note_limits
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored
from carob.schema.outcome import Scale
from carob.text.facts.clauses import split_clauses, split_sentences
from carob.text.facts.extract import Facts, as_spelled, contradicts, count_facts, extract_facts
from carob.text.facts.opposites import find_opposites
from carob.text.facts.quantities import unmatched
from carob.text.language import guess_language

_MIN_KNOWN = 0.5  # share of the words of a grounded sentence that occur in the sources


@dataclass(frozen=True, kw_only=True)
class Hallucination(Metric):
    """Share of the response that is grounded in its sources; 1 means no hallucination.

    Sources are the question, the context, the expected response and tool results. Words of
    grounded sentences / words of all sentences, halved for each sentence that has a quantity or
    name from no source, or that says the opposite of a source. A sentence is grounded if half of
    its content words and all its quantities and names occur in the sources. Per turn, then the
    mean.

    Informational, because it compares words and not meaning: it misses the wrong use of known
    words and suspects new words that are right. To decide a case, use the judged metric
    `hallucinations_v1`, or set a threshold.

    Measured, with a threshold of 0.7: accuracy 0.93, κ 0.87 on 76 labelled texts.
    """

    name: ClassVar[str] = "hallucination"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.context")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return note_limits(rate_responses(case, trace, _rate))


def _rate(response: RecordedResponse) -> Score | Unscored:
    evidence = "\n".join(filter(None, (response.context, response.reference, response.sources)))
    if not evidence:
        return Unscored(
            reason="no context, expected response or tool result to compare with",
            not_applicable=True,
        )
    language = guess_language(response.response, response.user, evidence)
    sources = extract_facts(f"{response.user}\n{evidence}", language)
    grounded = total = 0
    false: list[str] = []
    unknown: list[str] = []
    for sentence in split_sentences(response.response):
        stated = extract_facts(sentence, language)
        size = count_facts(stated)
        total += size
        reason = _explain_ungrounded(sentence, stated, sources, extract_facts(evidence, language))
        if reason is None:
            grounded += size
        else:
            (false if reason else unknown).append(reason or f"not in the sources: {sentence!r}")
    if not total:
        return Unscored(reason="the response states nothing", not_applicable=True)
    return Score(value=grounded / total * 0.5 ** len(false), reason="; ".join(false + unknown))


def _explain_ungrounded(
    sentence: str, stated: Facts, sources: Facts, evidence: Facts
) -> str | None:
    """Return why a sentence is not grounded: `None` if it is, empty if only words are unknown."""
    new = [quantity.text for quantity in unmatched(stated.quantities, sources.quantities)]
    new += as_spelled(stated.names - sources.topics, sentence)
    if new:
        return f"not in the sources: {', '.join(new)}"
    against = [
        part for part in split_clauses(sentence) if contradicts(extract_facts(part), evidence)
    ]
    against += [
        position.word for position, _ in find_opposites(stated.positions, evidence.positions)
    ]
    if against:
        return f"contradicts the sources: {against[0]!r}"
    known = count_facts(stated) - len(stated.words - sources.topics)
    return None if known >= _MIN_KNOWN * count_facts(stated) else ""


@dataclass(frozen=True, kw_only=True)
class GroundingUtilization(Metric):
    """Number of retrieved chunks that the responses are based on."""

    name: ClassVar[str] = "grounding_utilization"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    needs: ClassVar[tuple[Need, ...]] = ("grounding",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        turns = tuple(
            None if turn.grounding is None else float(len(turn.grounding)) for turn in trace.turns
        )
        known = [count for count in turns if count is not None]
        if not known:
            return Unscored(reason="grounding was not recorded")
        return Score(value=sum(known), turns=turns)
