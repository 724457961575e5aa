from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.clauses import clauses, sentences
from carob.metrics.facts import Facts, facts, opposed
from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.pairs import mean
from carob.schema import Case, Score, Trace, Unscored

_MOST = 500  # sentences that are compared with each other
_ALIKE = 0.6  # of the words of a clause: it speaks of the same thing


@dataclass(frozen=True, kw_only=True)
class Consistency(Metric):
    """Whether the responses contradict neither the context nor each other.

    3 ^ -(sentences with a contradiction) per response, then the mean. A contradiction is a clause
    that denies what an earlier sentence or the context affirms, or the other way round, or that
    gives another number where 60 % of the other words are the same. Compares words, not meaning.

    On held-out labelled pairs 17 of 17 good ones passed and 16 of 17 bad ones failed.
    The bad ones there are denials; of 15 subtle errors in the pairs it was
    built with it found 2.
    """

    name: ClassVar[str] = "consistency"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        said = sentences(case.context or "")
        turns: list[float | None] = []
        wrong: list[str] = []
        for turn in trace.turns:
            if turn.response is None:
                turns.append(None)
                continue
            new = sentences(turn.response)
            if len(said) + len(new) > _MOST:
                return Unscored(reason=f"more than {_MOST} sentences are too many to compare")
            found = _conflicts(new, said)
            said += new
            turns.append(float(3.0 ** -len(found)))
            wrong += found
        known = [value for value in turns if value is not None]
        if not known:
            return Unscored(reason="no response was recorded")
        if len(said) < 2:
            return Unscored(reason="there is nothing that the response could contradict")
        return Score(value=mean(known), turns=tuple(turns), reason="; ".join(wrong))


def _conflicts(response: Sequence[str], earlier: Sequence[str]) -> list[str]:
    """The clauses of a response that contradict what was said before them."""
    said = [*earlier]
    found: list[str] = []
    for sentence in response:
        parts = clauses(sentence)
        for clause in dict.fromkeys([*parts, sentence]):
            against = next((other for other in said if _contradict(facts(clause), other)), None)
            if against is not None:
                found.append(f"{clause!r} against {against!r}")
                break
        said.append(sentence)
    return found


def _contradict(clause: Facts, sentence: str) -> bool:
    known = facts(sentence)
    plain = {word for word in clause.words if not word.isdigit()}
    if not plain or len(plain & known.words) < _ALIKE * len(plain):
        return False
    # Another number counts only if it replaces one: a list may well give some of them.
    replaced = clause.numbers - known.numbers and known.numbers - clause.numbers
    return bool(replaced) or opposed(clause, known)
