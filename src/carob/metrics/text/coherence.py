"""The `coherence` metric."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored
from carob.text.facts.clauses import split_sentences
from carob.text.facts.extract import contradicts, extract_facts
from carob.text.tokens import split_words
from carob.text.vocabulary import DANGLING, FUNCTION_WORDS

_ENDS = (".", "!", "?", "…", ":", ")", '"', "'", "”", "’", "`", "。", "！", "？", "।", "؟")
_MAX_SENTENCES = 1000  # each is compared with all earlier ones
_MIN_WORDS = 6  # fewer words are a label or a list item


@dataclass(frozen=True, kw_only=True)
class Coherence(Metric):
    """Whether the response is well-formed text that does not repeat or contradict itself.

    Judges form only, not whether one thought follows from another: use the judged metric
    `Coherence` for that. The product of a factor for each fault: distinct sentences / sentences;
    1 - 2 · share of words repeated in a row or in runs of three; and 0.5 each for a text that
    breaks off, unfinished sentences, words that form no sentence, and a sentence that denies an
    earlier one. Per turn, then the mean. Grammar is checked in English only.

    Measured: accuracy 0.88, κ 0.75 on 16 labelled texts.
    """

    name: ClassVar[str] = "coherence"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.7
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, _rate)


def _rate(response: RecordedResponse) -> Score | Unscored:
    text = response.response
    if not text.strip():
        return Score(value=0.0, reason="the response is empty")
    if not split_words(text):
        return Score(value=0.0, reason="the response has no words")
    if len(split_sentences(text)) > _MAX_SENTENCES:
        return Unscored(reason=f"too many sentences to compare: more than {_MAX_SENTENCES}")
    factors = {
        "repeated sentences": _distinct_share(text),
        "repeated words": _fluency(text),
        "the text breaks off": 0.5 if _breaks_off(text) else 1.0,
        "unfinished sentences": 0.5 if _has_fragments(text) else 1.0,
        "the words form no sentence": 0.5 if _is_jumbled(text) else 1.0,
        "the text contradicts itself": 0.5 if _contradicts_itself(text) else 1.0,
    }
    value = 1.0
    for factor in factors.values():
        value *= factor
    return Score(
        value=value, reason="; ".join(fault for fault, factor in factors.items() if factor < 1)
    )


def _distinct_share(text: str) -> float:
    normalized = [" ".join(split_words(sentence)) for sentence in split_sentences(text)]
    present = [sentence for sentence in normalized if sentence]
    return len(set(present)) / len(present)


def _fluency(text: str) -> float:
    words = [word for word in split_words(text) if word.isascii()]
    if len(words) < 4:
        return 1.0
    doubled = sum(first == second for first, second in pairwise(words))
    runs = Counter(zip(words, words[1:], words[2:], strict=False))
    repeated = sum(count - 1 for count in runs.values() if count > 2)
    return max(0.0, 1 - 2 * max(doubled, repeated) / len(words))


def _breaks_off(text: str) -> bool:
    last = split_sentences(text)[-1]
    words = split_words(last)
    if last.endswith(_ENDS) or not words:
        return False
    return words[-1] in DANGLING


def _has_fragments(text: str) -> bool:
    """Tell whether two or more sentences end where their object should come."""
    endings = [
        split_words(sentence) for sentence in split_sentences(text) if sentence.endswith(".")
    ]
    return (
        sum(bool(words) and words[-1] in DANGLING - {"it", "is", "are", "was"} for words in endings)
        >= 2
    )


def _is_jumbled(text: str) -> bool:
    """Tell whether a longer text lacks function words, or a capital and all punctuation."""
    words = split_words(text)
    if len(words) < _MIN_WORDS or not text.isascii() or "\n" in text:
        return False
    if any(mark in text for mark in ".!?:,;0123456789"):
        return False
    share = sum(word in FUNCTION_WORDS for word in words) / len(words)
    return share < 0.15 or not text[0].isupper()


def _contradicts_itself(text: str) -> bool:
    statements = [extract_facts(sentence) for sentence in split_sentences(text)]
    for index, later in enumerate(statements):
        for earlier in statements[:index]:
            common = len(later.words & earlier.words)
            smaller = min(len(later.words), len(earlier.words))
            if smaller > 1 and common >= 0.8 * smaller and contradicts(later, earlier):
                return True
    return False
