"""The `consistency` metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.clauses import split_clauses, split_sentences
from carob.metrics.text.facts import Facts, contradicts, extract_facts
from carob.metrics.turns import mean
from carob.schema import Case, Score, Trace, Unscored

_MAX_SENTENCES = 500  # each is compared with all earlier ones
_SAME_TOPIC = 0.6  # share of common words from which two clauses are about the same thing


@dataclass(frozen=True, kw_only=True)
class Consistency(Metric):
    """Whether the responses are consistent with the context and with each other.

    3 ^ -(sentences with a contradiction) per response, then the mean. A contradiction is a clause
    that denies what an earlier sentence or the context affirms, or the other way round, or that
    gives another number while 60 % of the other words are the same. Compares words, not meaning.

    On held-out labelled pairs 17 of 17 good ones passed and 16 of 17 bad ones failed. The bad
    ones there are denials. Of 15 subtle errors in the pairs used for development it found 2.
    """

    name: ClassVar[str] = "consistency"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        earlier = split_sentences(case.context or "")
        turns: list[float | None] = []
        reasons: list[str] = []
        for turn in trace.turns:
            if turn.response is None:
                turns.append(None)
                continue
            response = split_sentences(turn.response)
            if len(earlier) + len(response) > _MAX_SENTENCES:
                return Unscored(reason=f"too many sentences to compare: more than {_MAX_SENTENCES}")
            contradictions = _find_contradictions(response, earlier)
            earlier += response
            turns.append(float(3.0 ** -len(contradictions)))
            reasons += contradictions
        known = [value for value in turns if value is not None]
        if not known:
            return Unscored(reason="no response was recorded")
        if len(earlier) < 2:
            return Unscored(reason="a single sentence without context has nothing to contradict")
        return Score(value=mean(known), turns=tuple(turns), reason="; ".join(reasons))


def _find_contradictions(response: Sequence[str], earlier: Sequence[str]) -> list[str]:
    """Return the clauses of a response that contradict an earlier sentence."""
    known = [*earlier]
    contradictions: list[str] = []
    for sentence in response:
        parts = split_clauses(sentence)
        for clause in dict.fromkeys([*parts, sentence]):
            against = next(
                (other for other in known if _contradict(extract_facts(clause), other)), None
            )
            if against is not None:
                contradictions.append(f"{clause!r} contradicts {against!r}")
                break
        known.append(sentence)
    return contradictions


def _contradict(clause: Facts, sentence: str) -> bool:
    known = extract_facts(sentence)
    plain = {word for word in clause.words if not word.isdigit()}
    if not plain or len(plain & known.words) < _SAME_TOPIC * len(plain):
        return False
    # A number counts only if it replaces another: "5 and 7 days" and "5 days" do not conflict.
    replaced = clause.numbers - known.numbers and known.numbers - clause.numbers
    return bool(replaced) or contradicts(clause, known)
