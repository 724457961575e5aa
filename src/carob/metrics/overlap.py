"""Metrics of how much text the response and the expected response share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.texts import against_reference
from carob.metrics.tokens import tokens
from carob.schema import Case, Score, Trace, Unscored

_BLEU_ORDER = 4
_CHRF_ORDER = 6
_CHRF_BETA = 2
# ASCII punctuation is a word of its own, except apostrophes and what may stand within numbers.
_SYMBOL = re.compile(r"([!-&(-+/:-@[-`{-~])")
_BEFORE_POINT = re.compile(r"(\D)([.,])", re.ASCII)
_AFTER_POINT = re.compile(r"([.,])(\D)", re.ASCII)
_AFTER_NUMBER = re.compile(r"(\d)-", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class RougeL(Metric):
    """How long the longest sequence of words is that both texts have, others between allowed.

    F-measure of the longest common subsequence of stemmed words: P = LCS / words of the response,
    R = LCS / words of the reference, F = 2PR / (P + R), per turn, then the mean.
    """

    name: ClassVar[str] = "rouge_l"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return against_reference(case, trace, _rated(rouge_l))


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """How many runs of one to four words of the response are in the reference.

    Sentence BLEU on a scale of 0 to 1: brevity penalty · exp(mean log n-gram precision), with the
    13a tokens, exponential smoothing and effective order of sacreBLEU, per turn, then the mean.
    """

    name: ClassVar[str] = "bleu"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.3
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return against_reference(case, trace, _rated(bleu))


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric):
    """How many runs of one to six characters both texts have; good for any language.

    chrF2 on a scale of 0 to 1: the mean of the precisions and of the recalls over the orders,
    F = 5PR / (4P + R), blanks aside, as in sacreBLEU; per turn, then the mean.
    """

    name: ClassVar[str] = "chrf"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return against_reference(case, trace, _rated(chrf))


def _rated(measure: Callable[[str, str], float]) -> Callable[[str, str], Score]:
    return lambda reference, response: Score(value=measure(reference, response))


def rouge_l(reference: str, response: str) -> float:
    """The F-measure of ROUGE-L."""
    expected, found = tokens(reference), tokens(response)
    if not expected or not found:
        return 0.0
    length = common(expected, found)
    precision, recall = length / len(found), length / len(expected)
    return 2 * precision * recall / (precision + recall) if length else 0.0


def common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, a whole row at a time in the bits of a number."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    row = full = (1 << len(first)) - 1
    for word in second:
        met = row & places.get(word, 0)
        row = (row + met | row - met) & full
    return len(first) - row.bit_count()


def bleu(reference: str, response: str) -> float:
    """Sentence BLEU."""
    expected, found = _tokens_13a(reference), _tokens_13a(response)
    if not expected or not found:
        return 0.0
    logs: list[float] = []
    halving = 1.0
    for order in range(1, min(_BLEU_ORDER, len(found)) + 1):
        total = len(found) - order + 1
        hits = (_runs(found, order) & _runs(expected, order)).total()
        if not hits:
            halving *= 2
        if order == 1 and not hits:
            return 0.0
        logs.append(log((hits or 1 / halving) / total))
    brevity = min(1.0, exp(1 - len(expected) / len(found)))
    return min(1.0, brevity * exp(sum(logs) / len(logs)))


def chrf(reference: str, response: str) -> float:
    """Sentence chrF2."""
    expected, found = "".join(reference.split()), "".join(response.split())
    precisions: list[float] = []
    recalls: list[float] = []
    for order in range(1, min(_CHRF_ORDER, len(expected), len(found)) + 1):
        hits = (_runs(found, order) & _runs(expected, order)).total()
        precisions.append(hits / (len(found) - order + 1))
        recalls.append(hits / (len(expected) - order + 1))
    if not precisions or not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    weight = _CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall)


def _runs(parts: Sequence[str], order: int) -> Counter[Sequence[str]]:
    if isinstance(parts, str):
        return Counter(parts[start : start + order] for start in range(len(parts) - order + 1))
    return Counter(tuple(parts[start : start + order]) for start in range(len(parts) - order + 1))


def _tokens_13a(text: str) -> list[str]:
    """Words and punctuation apart, as the `mteval-v13a` script of BLEU's evaluations has them."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, char in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, char)
    text = _SYMBOL.sub(r" \1 ", f" {text} ")
    text = _BEFORE_POINT.sub(r"\1 \2 ", text)
    text = _AFTER_POINT.sub(r" \1 \2", text)
    return _AFTER_NUMBER.sub(r"\1 - ", text).split()
