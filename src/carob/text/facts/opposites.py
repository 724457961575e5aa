"""Pairs of opposites, such as before and after, and which of two texts say the opposite.

The other word alone is not a contradiction: `before lunch` and `after dinner` go together. Two
words contradict each other only in the same context: the same word or number follows them, or their
clauses share most of their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from carob.text.facts.clauses import is_negated, split_clauses
from carob.text.facts.numerals import write_in_digits
from carob.text.facts.quantities import Quantity, matches
from carob.text.facts.quantity_patterns import extract_quantities
from carob.text.tokens import split_words, stem_word
from carob.text.vocabulary import (
    NEGATORS,
    OPPOSITE_DEGREES,
    OPPOSITE_RELATIONS,
    OPPOSITE_STATES,
    STOP_WORDS,
)

# Each position is compared with all others, so both are limited.
_MAX_POSITIONS = 200  # in a text
_MAX_IN_CLAUSE = 20
_ANCHOR_LENGTH = 80  # characters in which an anchor is searched
_SAME_CONTEXT = 0.6  # share of the words of the smaller clause that the other has too


class Position(NamedTuple):
    """A word of a pair of opposites, and where the text uses it."""

    pair: int
    side: bool
    word: str
    anchor: str | Quantity | None
    """The stem of the next content word, or the next quantity if that comes first."""
    words: frozenset[str]
    """The other content words of the clause."""
    quantities: tuple[Quantity, ...]


def find_positions(text: str, language: str = "") -> tuple[Position, ...]:
    """Find the words of a text that have an opposite."""
    if _PHRASES.keys().isdisjoint(split_words(text)):  # most texts
        return ()
    clauses = split_clauses(text)
    positions = chain.from_iterable(_find_in_clause(clause, language) for clause in clauses)
    return tuple(islice(positions, _MAX_POSITIONS))


def has_reversible(clause: str) -> bool:
    """Tell whether a clause has a word whose negation means its opposite: `not before 9`."""
    return any(phrase.reversible for phrase, _, _ in _phrases_in(split_words(clause)))


def find_opposites(
    stated: Sequence[Position], known: Sequence[Position]
) -> list[tuple[Position, Position]]:
    """Return what is stated with what is known, where one is the opposite of the other.

    A text with both of them in one context, as in `before or after meals`, decides nothing.
    """
    conflicts: list[tuple[Position, Position]] = []
    for position in stated:
        related = [fact for fact in known if _share_context(position, fact)]
        sides = {fact.side for fact in related}
        sides_stated = {claim.side for claim in stated if _share_context(position, claim)}
        if len(sides_stated) == 1 and sides == {not position.side}:
            conflicts.append((position, related[0]))
    return conflicts


def _find_in_clause(clause: str, language: str) -> Iterator[Position]:
    words = split_words(clause)
    phrases = [*islice(_phrases_in(words), _MAX_IN_CLAUSE)]
    if not phrases:
        return
    extraction = extract_quantities(clause, language)
    used = {index for _, start, end in phrases for index in range(start, end)}
    content = {
        stem_word(word)
        for index, word in enumerate(words)
        if index not in used and _is_content(word) and not word.isdigit()
    }
    unused = [word for index, word in enumerate(words) if index not in used]
    # The `no` of the Portuguese `no máximo` negates nothing.
    negated = is_negated(clause if NEGATORS.isdisjoint(words) else " ".join(unused))
    rest = clause
    for phrase, start, end in phrases:
        rest = re.split(r"\W+".join(words[start:end]), rest, maxsplit=1, flags=re.IGNORECASE)[-1]
        yield Position(
            pair=phrase.pair,
            side=phrase.side != negated,  # `not more than 5` is `at most 5`
            word=" ".join(words[start:end]),
            anchor=_find_anchor(rest[:_ANCHOR_LENGTH], language) if phrase.relation else None,
            words=frozenset(content),
            quantities=extraction.quantities,
        )


def _find_anchor(text: str, language: str) -> str | Quantity | None:
    """Return what comes first in a text: a content word, as a stem, or a quantity."""
    extraction = extract_quantities(text, language)
    digits = split_words(write_in_digits(text, language))
    word = next((word for word in digits if _is_content(word)), None)
    if extraction.quantities and word and word[0].isdigit():
        return extraction.quantities[0]
    return stem_word(word) if word else None


def _is_content(word: str) -> bool:
    return word not in STOP_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit())


def _share_context(first: Position, second: Position) -> bool:
    if first.pair != second.pair:
        return False
    if first.anchor and second.anchor:
        if isinstance(first.anchor, Quantity) and isinstance(second.anchor, Quantity):
            return matches(first.anchor, second.anchor)
        return first.anchor == second.anchor
    smaller = min(len(first.words), len(second.words))
    if not smaller:
        return not (first.quantities or second.quantities) or _share_quantity(first, second)
    return len(first.words & second.words) >= _SAME_CONTEXT * smaller


def _share_quantity(first: Position, second: Position) -> bool:
    return any(matches(a, b) for a in first.quantities for b in second.quantities)


class _Phrase(NamedTuple):
    words: tuple[str, ...]
    pair: int
    side: bool
    relation: bool
    reversible: bool
    """Whether its negation means its opposite."""


def _parse_phrases() -> dict[str, list[_Phrase]]:
    """Return the phrases by their first word, the longest first."""
    table: dict[str, list[_Phrase]] = {}
    pairs = [(sides, True, True) for sides in OPPOSITE_RELATIONS]
    pairs += [(sides, False, True) for sides in OPPOSITE_DEGREES]
    pairs += [(sides, False, False) for sides in OPPOSITE_STATES]
    for pair, (sides, relation, reversible) in enumerate(pairs):
        for side, phrases in enumerate(sides):
            for text in phrases:
                words = tuple(text.split("_"))
                phrase = _Phrase(words, pair, bool(side), relation, reversible)
                table.setdefault(words[0], []).append(phrase)
    for phrases in table.values():
        phrases.sort(key=lambda phrase: -len(phrase.words))
    return table


_PHRASES = _parse_phrases()


def _phrases_in(words: Sequence[str]) -> Iterator[tuple[_Phrase, int, int]]:
    index = 0
    while index < len(words):
        length = 1
        for phrase in _PHRASES.get(words[index], ()):
            end = index + len(phrase.words)
            # A word can be in two pairs: `salida` is a departure and an exit.
            if len(phrase.words) >= length and tuple(words[index:end]) == phrase.words:
                yield phrase, index, end
                length = len(phrase.words)
        index += length
