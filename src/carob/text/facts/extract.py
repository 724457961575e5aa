"""Facts of a text: its content words, quantities, names and opposites.

This compares spelling, not meaning: a synonym is another word, and a name is a word with a capital
letter. Scripts without capitals have no names here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from carob.text.facts.clauses import is_negated, split_clauses, split_sentences
from carob.text.facts.opposites import Position, find_positions, has_reversible
from carob.text.facts.quantities import Quantity, unmatched
from carob.text.facts.quantity_patterns import extract_quantities
from carob.text.language import guess_language
from carob.text.tokens import split_words, stem_word
from carob.text.vocabulary import AFTER_IMPERATIVE, NEGATIVE_FORMS, NEGATORS, STOP_WORDS

_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w)")
_EMPTY_WORDS = STOP_WORDS | NEGATORS  # a negation counts by what it denies
_QUANTITY_WEIGHT = 2  # a wrong number makes an answer wrong, a missing word rarely does


class Facts(NamedTuple):
    """The facts that a text states."""

    words: frozenset[str]
    """Stems of content words, without those that are part of a quantity."""
    topics: frozenset[str]
    """Stems of all content words, with those of quantities: `days` in `5 days`."""
    quantities: tuple[Quantity, ...]
    """Numbers, amounts, measures, dates, times, and codes such as `B14`."""
    names: frozenset[str]
    """Lower-cased words that have a capital letter within a sentence."""
    openers: frozenset[str]
    """First words of sentences that may be names, unless the next word suggests an imperative."""
    affirmed: frozenset[str]
    """Content words of clauses without a negation."""
    denied: frozenset[str]
    """Content words of clauses with a negation."""
    positions: tuple[Position, ...]
    """Words that have an opposite, such as `before`."""


# Several metrics read each text, and golden texts recur in every repetition.
@lru_cache(maxsize=2048)
def extract_facts(text: str, language: str | None = None) -> Facts:
    """Extract the facts of a text. Without a language, it is guessed from the text."""
    text = normalize("NFKC", text)
    language = guess_language(text) if language is None else language
    quantities, rest = extract_quantities(text, language)
    names, openers = _extract_names(rest)
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in split_clauses(text):
        positive, negative = split_by_polarity(clause)
        affirmed |= positive
        denied |= negative
    words = frozenset(content_words(rest))
    return Facts(
        words=words,
        topics=words | content_words(text),
        quantities=quantities,
        names=names,
        openers=openers,
        affirmed=frozenset(affirmed),
        denied=frozenset(denied),
        positions=find_positions(text, language),
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
    denied = {
        stem_word(NEGATIVE_FORMS[word]) for word in split_words(clause) if word in NEGATIVE_FORMS
    }
    negated = is_negated(clause)
    if negated and has_reversible(clause):
        return set(), set()  # `not before 9` denies only the `before`
    if negated != bool(denied):
        return set(), content | denied
    return content | denied, set()


def content_words(text: str) -> set[str]:
    """Return the stems of all words but stop words, negations and single ASCII letters."""
    return {
        stem_word(word)
        for word in split_words(text)
        if word not in _EMPTY_WORDS and (len(word) > 1 or not word.isascii())
    }


def count_facts(facts: Facts) -> int:
    """Count the words and, twice, the quantities."""
    return len(facts.words) + _QUANTITY_WEIGHT * len(facts.quantities)


def states_facts(facts: Facts) -> bool:
    """Tell whether there is any word, name or quantity. `It is.` and an emoji have none."""
    return bool(facts.topics or facts.names or facts.quantities)


def coverage(expected: Facts, stated: Facts, known: Facts) -> float:
    """Return the share of the expected facts that are stated. Known facts need not be repeated."""
    words = expected.words - known.topics
    names = expected.names - known.names - known.topics
    quantities = unmatched(expected.quantities, known.quantities)
    missing = unmatched(quantities, stated.quantities)
    total = len(words) + len(names) + _QUANTITY_WEIGHT * len(quantities)
    if not total:
        return 1.0 if not expected.topics or expected.topics & stated.topics else 0.0
    spelled = stated.topics | stated.names | stated.openers
    present = len(words & spelled) + len(names & spelled)
    return (present + _QUANTITY_WEIGHT * (len(quantities) - len(missing))) / total


POLAR_WORDS = frozenset(
    stem_word(word) for pair in NEGATIVE_FORMS.items() for word in pair
)  # words that say whether something holds, not what it is about


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
