"""The `hallucination` and `grounding_utilization` metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.clauses import split_clauses, split_sentences
from carob.metrics.text.facts import as_spelled, contradicts, count_facts, extract_facts
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored
from carob.schema.outcome import Scale

_MIN_KNOWN = 0.5  # share of the words of a grounded sentence that occur in the sources


@dataclass(frozen=True, kw_only=True)
class Hallucination(Metric):
    """Share of the response that is grounded in its sources; 1 is no hallucination.

    Sources are the question, the context, the expected response and tool results. Words of
    grounded sentences / words of all sentences, halved for each sentence that has a number or name
    from no source or that denies what a source affirms. A sentence is grounded if half of its
    content words, all its numbers and all its names occur in the sources. Per turn, then the mean.
    Compares words, not meaning.

    On held-out labelled pairs 15 of 17 good ones passed and 65 of 67 bad ones failed. It misses
    the wrong use of known words: of 15 subtle errors in the pairs used for development it found 4.
    """

    name: ClassVar[str] = "hallucination"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.7
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.context")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, _rate)


def _rate(response: RecordedResponse) -> Score | Unscored:
    evidence = "\n".join(filter(None, (response.context, response.reference, response.sources)))
    if not evidence:
        return Unscored(reason="no context, expected response or tool result to compare with")
    grounded = total = 0
    false: list[str] = []
    unknown: list[str] = []
    for sentence in split_sentences(response.response):
        size = count_facts(extract_facts(sentence))
        total += size
        reason = _explain_ungrounded(sentence, response.user, evidence)
        if reason is None:
            grounded += size
        else:
            (false if reason else unknown).append(reason or f"not in the sources: {sentence!r}")
    if not total:
        return Unscored(reason="the response states nothing")
    return Score(value=grounded / total * 0.5 ** len(false), reason="; ".join(false + unknown))


def _explain_ungrounded(sentence: str, user: str, evidence: str) -> str | None:
    """Return why a sentence is not grounded: `None` if it is, empty if only words are unknown."""
    stated, sources = extract_facts(sentence), extract_facts(f"{user}\n{evidence}")
    new = sorted(stated.numbers - sources.numbers)
    new += as_spelled(stated.names - sources.words, sentence)
    if new:
        return f"not in the sources: {', '.join(new)}"
    against = [
        part
        for part in split_clauses(sentence)
        if contradicts(extract_facts(part), extract_facts(evidence))
    ]
    if against:
        return f"contradicts the sources: {against[0]!r}"
    known = len(stated.words & sources.words)
    return None if known >= _MIN_KNOWN * len(stated.words) else ""


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
