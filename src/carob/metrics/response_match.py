from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.pairs import Pair, per_turn
from carob.metrics.texts import unanswered
from carob.metrics.tokens import tokens
from carob.schema import Case, Score, Trace, Unscored


@dataclass(frozen=True, kw_only=True)
class ResponseMatch(Metric):
    """How many words the response and the expected response have in common (ROUGE-1).

    The F-measure of clipped unigram overlap: P = hits / words of the response, R = hits / words
    of the reference, F = 2PR / (P + R), per turn, then the mean. The number is ADK's, bit for
    bit. Unlike there, a turn without an expected response is left out, as is one whose response
    was not recorded, unless the agent is known to have failed in it; missing or extra turns score
    0 instead of stopping the evaluation.
    """

    name: ClassVar[str] = "response_match_score"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        for turn in case.turns:
            if turn.response is not None:
                return per_turn(case, trace, _rate)
        return Unscored(reason="the case expects no response")


def _rate(pair: Pair) -> Score | Unscored:
    if pair.actual is None:
        if pair.golden is None or pair.golden.response is None:
            return Unscored(reason="the turn expects no response")
        return Score(value=0.0, reason="the turn is missing")
    if pair.golden is None:
        return Score(value=0.0, reason="the turn is not expected")
    if pair.golden.response is None:
        return Unscored(reason="the turn expects no response")
    if pair.actual.response is None:
        return unanswered(pair.actual)
    return _overlap(pair.golden.response, pair.actual.response)


def _overlap(reference: str, response: str) -> Score:
    value = rouge_1(reference, response)
    if value == 1.0:
        return Score(value=1.0)
    if not response.strip():
        return Score(value=value, reason="the response is empty")
    return Score(value=value, reason=f"{value:.0%} of the words match")


def rouge_1(reference: str, candidate: str) -> float:
    """The F-measure of ROUGE-1."""
    expected, size = _reference(reference)
    if candidate == reference:  # the same numbers as below, without counting again
        return 1.0 if size else 0.0
    found = tokens(candidate)
    counts = Counter(found)
    hits = 0
    for token, count in expected.items():
        present = counts.get(token, 0)
        hits += count if count < present else present  # noqa: FURB136 - `min` is slow
    precision = hits / max(len(found), 1)
    recall = hits / max(size, 1)
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0


@lru_cache(maxsize=1024)  # a golden text is met again in every repeat of its case
def _reference(text: str) -> tuple[Mapping[str, int], int]:
    found = tokens(text)
    return Counter(found), len(found)
