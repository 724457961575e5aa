from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.clauses import clauses, sentences
from carob.metrics.facts import facts, opposed, spelt, weight
from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.texts import Answer, of_answers
from carob.schema import Case, Score, Trace, Unscored

_ENOUGH = 0.5  # of the words of a sentence


@dataclass(frozen=True, kw_only=True)
class Hallucination(Metric):
    """Share of the response that stands on the question, the context, the reference or a tool.

    Words of grounded sentences / words of all sentences, halved for each sentence with an
    ungrounded number or name or that denies what a source affirms; per turn, then the mean. A
    sentence is grounded if half of its content words, all its numbers and all its names are in
    the sources. 1 is no hallucination. It compares words, not meaning.

    On held-out labelled pairs 15 of 17 good ones passed and 65 of 67 bad ones failed.
    Blind to a wrong use of known words: of 15 subtle errors in the pairs it
    was built with it found 4.
    """

    name: ClassVar[str] = "hallucination"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.7
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.context")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return of_answers(case, trace, _rate)


def _rate(given: Answer) -> Score | Unscored:
    told = "\n".join(filter(None, (given.context, given.reference, given.sources)))
    if not told:
        return Unscored(reason="there is neither context nor reference nor a tool result")
    grounded = total = 0
    wrong: list[str] = []
    soft: list[str] = []
    for sentence in sentences(given.response):
        size = weight(facts(sentence))
        total += size
        why = _ungrounded(sentence, given.user, told)
        if why is None:
            grounded += size
        else:
            (wrong if why else soft).append(why or f"not in the sources: {sentence!r}")
    if not total:
        return Unscored(reason="the response states nothing")
    return Score(value=grounded / total * 0.5 ** len(wrong), reason="; ".join(wrong + soft))


def _ungrounded(sentence: str, user: str, told: str) -> str | None:
    """`None` if grounded, else why not; empty if only its words are unknown."""
    found, sources = facts(sentence), facts(f"{user}\n{told}")
    new = sorted(found.numbers - sources.numbers) + spelt(found.names - sources.words, sentence)
    if new:
        return f"not in the sources: {', '.join(new)}"
    against = [part for part in clauses(sentence) if opposed(facts(part), facts(told))]
    if against:
        return f"against the sources: {against[0]!r}"
    known = len(found.words & sources.words)
    return None if known >= _ENOUGH * len(found.words) else ""
