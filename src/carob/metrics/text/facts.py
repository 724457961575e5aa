"""Facts of a text: its content words, numbers and names.

This compares spelling, not meaning: a synonym is another word, and a name is a word with a capital
letter. Scripts without capitals have no names here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from carob.metrics.text.clauses import is_negated, split_clauses, split_sentences
from carob.metrics.text.tokens import split_words, stem_word
from carob.metrics.text.vocabulary import AFTER_IMPERATIVE, OPPOSITES, STOP_WORDS

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CODE = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]+")
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w)")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")

_COUNTS = dict(
    zip(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        map(str, range(2, 13)),
        strict=True,
    )
)


class Facts(NamedTuple):
    """The facts that a text states."""

    words: frozenset[str]
    """Stems of content words."""
    numbers: frozenset[str]
    """Numbers in one normalized spelling, and codes such as `B14`."""
    names: frozenset[str]
    """Lower-cased words that have a capital letter within a sentence."""
    openers: frozenset[str]
    """First words of sentences that may be names, unless the next word suggests an imperative."""
    affirmed: frozenset[str]
    """Content words of clauses without a negation."""
    denied: frozenset[str]
    """Content words of clauses with a negation."""


# Several metrics read each text, and golden texts recur in every repetition.
@lru_cache(maxsize=2048)
def extract_facts(text: str) -> Facts:
    """Extract the facts of a text."""
    text = normalize("NFKC", text)
    names, openers = _extract_names(text)
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in split_clauses(text):
        positive, negative = split_by_polarity(clause)
        affirmed |= positive
        denied |= negative
    return Facts(
        words=frozenset(content_words(text)),
        numbers=frozenset(_extract_numbers(text)),
        names=names,
        openers=openers,
        affirmed=frozenset(affirmed),
        denied=frozenset(denied),
    )


def as_spelled(facts: Iterable[str], text: str) -> list[str]:
    """Return facts in the spelling of the text: the fact `pari` is `Paris` there."""
    spelling: dict[str, str] = {}
    for match in _WORD.finditer(normalize("NFKC", text)):
        spelling.setdefault(_stem(match[0]), match[0])
    return [spelling.get(fact, fact) for fact in sorted(facts)]


def split_by_polarity(clause: str) -> tuple[set[str], set[str]]:
    """Return the content words that a clause affirms, and those that it denies.

    `unavailable` denies `available`.
    """
    content = {word for word in content_words(clause) if not word.isdigit()}
    opposites = {stem_word(OPPOSITES[word]) for word in split_words(clause) if word in OPPOSITES}
    if is_negated(clause) != bool(opposites):
        return set(), content | opposites
    return content | opposites, set()


def content_words(text: str) -> set[str]:
    """Return the stems of all words but stop words and single ASCII letters."""
    return {
        stem_word(word)
        for word in split_words(text)
        if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())
    }


def count_facts(facts: Facts) -> int:
    """Count the words and numbers. Numbers count twice, because they are words as well."""
    return len(facts.words) + len(facts.numbers)


def coverage(expected: Facts, stated: Facts, known: Facts) -> float:
    """Return the share of the expected facts that are stated. Known facts need not be repeated."""
    parts = [
        (expected.words - known.words, stated.words),
        (expected.numbers - known.numbers, stated.numbers),
        (expected.names - known.names, stated.names | stated.openers),
    ]
    total = sum(len(needed) for needed, _ in parts)
    if not total:
        return 1.0 if not expected.words or expected.words & stated.words else 0.0
    return sum(len(needed & present) for needed, present in parts) / total


def contradicts(clause: Facts, source: Facts) -> bool:
    """Tell whether a clause denies what the source affirms, or affirms what it denies.

    Words that the source both affirms and denies are ignored. Of the others, more must conflict
    than agree.
    """
    conflicts = clause.affirmed & (source.denied - source.affirmed)
    conflicts |= clause.denied & (source.affirmed - source.denied)
    same = (clause.affirmed & source.affirmed) | (clause.denied & source.denied)
    return len(conflicts) > len(same)


def _stem(word: str) -> str:
    return stem_word(word.lower().split("'")[0])


def _extract_numbers(text: str) -> set[str]:
    numbers = {match.lower() for match in _CODE.findall(text)}
    for match in _NUMBER.findall(_CODE.sub(" ", text)):
        plain = match.replace(",", "") if _THOUSANDS.fullmatch(match) else match.replace(",", ".")
        numbers.add(_normalize_number(plain))
    return numbers | {_COUNTS[word] for word in split_words(text) if word in _COUNTS}


def _normalize_number(number: str) -> str:
    """Normalize `07:45` to `7:45`, `29.00` to `29`, and digits of any script to ASCII."""
    number = "".join(str(int(char)) if char.isdigit() else char for char in number)
    number = number.lstrip("0") or "0"
    return number.rstrip("0").rstrip(".") if "." in number and ":" not in number else number


def _extract_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    names: set[str] = set()
    openers: set[str] = set()
    for sentence in split_sentences(text):
        words = [match[0] for match in _WORD.finditer(sentence)]
        for index, word in enumerate(words):
            if not word[0].isupper() or word.lower() in STOP_WORDS:
                continue
            name = _stem(word)
            if index and len(name) > 1:
                names.add(name)
            elif words[1:] and words[1].lower() not in AFTER_IMPERATIVE and not word.endswith("ly"):
                openers.add(name)
    return frozenset(names), frozenset(openers - names)
