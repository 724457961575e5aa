"""The `consistency` metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.limits import note_limits
from carob.metrics.turns import mean
from carob.schema import Case, Score, Trace, Unscored
from carob.text.facts.clauses import split_clauses, split_sentences
from carob.text.facts.extract import POLAR_WORDS, Facts, contradicts, extract_facts
from carob.text.facts.opposites import find_opposites
from carob.text.facts.quantities import unmatched
from carob.text.language import guess_language

_MAX_SENTENCES = 500  # each is compared with all earlier ones
_SAME_TOPIC = 0.6  # share of common words from which two clauses are about the same thing


@dataclass(frozen=True, kw_only=True)
class Consistency(Metric):
    """Whether the responses are consistent with the context and with each other.

    3 ^ -(sentences with a contradiction) per response, then the mean. A contradiction is a clause
    that denies what an earlier sentence or the context affirms, or the other way round, that says
    the opposite in the same context, or that gives another quantity while 60 % of the other words
    are the same. Quantities and opposites are those of `factuality`. Compares words, not meaning.

    Measured: accuracy 0.90, κ 0.81 on 84 labelled texts.
    """

    name: ClassVar[str] = "consistency"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        earlier = split_sentences(case.context or "")
        responses = [turn.response for turn in trace.turns if turn.response is not None]
        language = guess_language(case.context or "", *responses)
        turns: list[float | None] = []
        reasons: list[str] = []
        for turn in trace.turns:
            if turn.response is None:
                turns.append(None)
                continue
            response = split_sentences(turn.response)
            if len(earlier) + len(response) > _MAX_SENTENCES:
                return Unscored(reason=f"too many sentences to compare: more than {_MAX_SENTENCES}")
            contradictions = _find_contradictions(response, earlier, language)
            earlier += response
            turns.append(float(3.0 ** -len(contradictions)))
            reasons += contradictions
        known = [value for value in turns if value is not None]
        if not known:
            return Unscored(reason="no response was recorded")
        if len(earlier) < 2:
            return Unscored(
                reason="a single sentence without context has nothing to contradict",
                not_applicable=True,
            )
        score = Score(value=mean(known), turns=tuple(turns), reason="; ".join(reasons))
        return note_limits(score)


def _find_contradictions(
    response: Sequence[str], earlier: Sequence[str], language: str
) -> list[str]:
    """Return the clauses of a response that contradict an earlier sentence."""
    known = [*earlier]
    contradictions: list[str] = []
    for sentence in response:
        parts = split_clauses(sentence)
        for clause in dict.fromkeys([*parts, sentence]):
            facts = extract_facts(clause, language)
            against = next(
                (other for other in known if _contradict(facts, extract_facts(other, language))),
                None,
            )
            if against is not None:
                contradictions.append(f"{clause!r} contradicts {against!r}")
                break
        known.append(sentence)
    return contradictions


def _contradict(clause: Facts, known: Facts) -> bool:
    if find_opposites(clause.positions, known.positions):
        return True
    topic = clause.words - POLAR_WORDS
    if not topic or len(topic & known.topics) < _SAME_TOPIC * len(topic):
        return False
    # A number counts only if it replaces another: "5 and 7 days" and "5 days" do not conflict.
    new = unmatched(clause.quantities, known.quantities)
    if new and unmatched(known.quantities, clause.quantities):
        return True
    return contradicts(clause, known)
