"""Text overlap of the response and the expected response: ROUGE-L, BLEU, chrF."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.responses import rate_against_reference
from carob.schema import Case, Score, Trace, Unscored
from carob.text.tokens import tokenize

_BLEU_ORDER = 4
_CHRF_ORDER = 6
_CHRF_BETA = 2
# Each ASCII punctuation mark is a token, except apostrophes and marks within numbers.
_SYMBOL = re.compile(r"([!-&(-+/:-@[-`{-~])")
_BEFORE_POINT = re.compile(r"(\D)([.,])", re.ASCII)
_AFTER_POINT = re.compile(r"([.,])(\D)", re.ASCII)
_AFTER_NUMBER = re.compile(r"(\d)-", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class RougeL(Metric):
    """Longest sequence of words that both texts share, with gaps (ROUGE-L).

    F-measure of the longest common subsequence of stemmed words: P = LCS / words of the response,
    R = LCS / words of the reference, F = 2PR / (P + R), per turn, then the mean.

    Compared with labels of factuality: accuracy 0.23, κ -0.53 on 80 labelled texts. That is
    worse than chance: a wrong answer differs in one word, a good one in many.
    """

    name: ClassVar[str] = "rouge_l"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_against_reference(case, trace, _score_with(rouge_l))


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """Share of the runs of one to four words of the response that occur in the reference (BLEU).

    Sentence BLEU on a scale of 0 to 1: brevity penalty · exp(mean log n-gram precision), with the
    13a tokenizer, exponential smoothing and effective order of sacreBLEU, per turn, then the mean.

    Compared with labels of factuality: accuracy 0.14, κ -0.73 on 80 labelled texts. That is
    worse than chance: a wrong answer differs in one word, a good one in many.
    """

    name: ClassVar[str] = "bleu"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.3
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_against_reference(case, trace, _score_with(bleu))


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric):
    """Overlap of runs of one to six characters; suits any language (chrF).

    chrF2 on a scale of 0 to 1: the mean of the precisions and of the recalls over the orders,
    F = 5PR / (4P + R), ignoring spaces, as in sacreBLEU; per turn, then the mean.

    Compared with labels of factuality: accuracy 0.26, κ -0.45 on 80 labelled texts. That is
    worse than chance: a wrong answer differs in one word, a good one in many.
    """

    name: ClassVar[str] = "chrf"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_against_reference(case, trace, _score_with(chrf))


def _score_with(measure: Callable[[str, str], float]) -> Callable[[str, str], Score]:
    return lambda reference, response: Score(value=measure(reference, response))


def rouge_l(reference: str, response: str) -> float:
    """Return the F-measure of ROUGE-L."""
    expected, actual = tokenize(reference), tokenize(response)
    if not expected or not actual:
        return 0.0
    length = common_length(expected, actual)
    precision, recall = length / len(actual), length / len(expected)
    return 2 * precision * recall / (precision + recall) if length else 0.0


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    # Bit-parallel: each row of the usual table is one integer, so a row takes a few operations.
    positions: dict[str, int] = {}
    for position, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << position
    row = full = (1 << len(first)) - 1
    for word in second:
        matches = row & positions.get(word, 0)
        row = (row + matches | row - matches) & full
    return len(first) - row.bit_count()


def bleu(reference: str, response: str) -> float:
    """Return the sentence BLEU."""
    expected, actual = _tokens_13a(reference), _tokens_13a(response)
    if not expected or not actual:
        return 0.0
    logs: list[float] = []
    halving = 1.0
    for order in range(1, min(_BLEU_ORDER, len(actual)) + 1):
        total = len(actual) - order + 1
        hits = (_ngrams(actual, order) & _ngrams(expected, order)).total()
        if not hits:
            halving *= 2
        if order == 1 and not hits:
            return 0.0
        logs.append(log((hits or 1 / halving) / total))
    brevity = min(1.0, exp(1 - len(expected) / len(actual)))
    return min(1.0, brevity * exp(sum(logs) / len(logs)))


def chrf(reference: str, response: str) -> float:
    """Return the sentence chrF2."""
    expected, actual = "".join(reference.split()), "".join(response.split())
    precisions: list[float] = []
    recalls: list[float] = []
    for order in range(1, min(_CHRF_ORDER, len(expected), len(actual)) + 1):
        hits = (_ngrams(actual, order) & _ngrams(expected, order)).total()
        precisions.append(hits / (len(actual) - order + 1))
        recalls.append(hits / (len(expected) - order + 1))
    if not precisions or not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    weight = _CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall)


def _ngrams(parts: Sequence[str], order: int) -> Counter[Sequence[str]]:
    if isinstance(parts, str):
        return Counter(parts[start : start + order] for start in range(len(parts) - order + 1))
    return Counter(tuple(parts[start : start + order]) for start in range(len(parts) - order + 1))


def _tokens_13a(text: str) -> list[str]:
    """Split words and punctuation as the `mteval-v13a` script does."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, char in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, char)
    text = _SYMBOL.sub(r" \1 ", f" {text} ")
    text = _BEFORE_POINT.sub(r"\1 \2 ", text)
    text = _AFTER_POINT.sub(r" \1 \2", text)
    return _AFTER_NUMBER.sub(r"\1 - ", text).split()
