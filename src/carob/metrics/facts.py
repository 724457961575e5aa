"""What a text states that can be checked: its content words, numbers and names.

This knows spelling, not meaning: a synonym is another word, and a name is what is written with a
capital letter. Scripts without capitals have no names here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from carob.metrics.clauses import clauses, denies, sentences
from carob.metrics.tokens import token, words
from carob.metrics.vocabulary import EMPTY, FOLLOWING, OPPOSITES

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
    """What a text states."""

    words: frozenset[str]
    """Stems of its content words."""
    numbers: frozenset[str]
    """Numbers in one spelling, and codes such as `B14`."""
    names: frozenset[str]
    """Lower-case words that it writes with a capital letter within a sentence."""
    openers: frozenset[str]
    """First words of its sentences that may be names: no imperative, by the word that follows."""
    affirmed: frozenset[str]
    """Content words of clauses without a negation."""
    denied: frozenset[str]
    """Content words of clauses with one."""


@lru_cache(maxsize=2048)  # each text is met by several metrics, and golden ones in every repeat
def facts(text: str) -> Facts:
    """The facts of a text."""
    text = normalize("NFKC", text)
    names, openers = _names(text)
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in clauses(text):
        positive, negative = polar(clause)
        affirmed |= positive
        denied |= negative
    return Facts(
        words=frozenset(content(text)),
        numbers=frozenset(_numbers(text)),
        names=names,
        openers=openers,
        affirmed=frozenset(affirmed),
        denied=frozenset(denied),
    )


def spelt(found: Iterable[str], text: str) -> list[str]:
    """Facts as the text writes them: of `Paris` only `pari` is compared."""
    written: dict[str, str] = {}
    for match in _WORD.finditer(normalize("NFKC", text)):
        written.setdefault(_stem(match[0]), match[0])
    return [written.get(one, one) for one in sorted(found)]


def polar(clause: str) -> tuple[set[str], set[str]]:
    """The content words that a clause affirms and those that it denies.

    `unavailable` is `available`, denied.
    """
    found = {word for word in content(clause) if not word.isdigit()}
    against = {token(OPPOSITES[word]) for word in words(clause) if word in OPPOSITES}
    if denies(clause) != bool(against):
        return set(), found | against
    return found | against, set()


def content(text: str) -> set[str]:
    """The stems of the words of a text that carry its content."""
    return {
        token(word) for word in words(text) if word not in EMPTY and len(word) > 1 - _wide(word)
    }


def weight(facts: Facts) -> int:
    """How much there is to check: numbers count twice, as they are words as well."""
    return len(facts.words) + len(facts.numbers)


def covered(wanted: Facts, by: Facts, free: Facts) -> float:
    """Share of the wanted facts that another text states; what is free need not be repeated."""
    parts = [
        (wanted.words - free.words, by.words),
        (wanted.numbers - free.numbers, by.numbers),
        (wanted.names - free.names, by.names | by.openers),
    ]
    total = sum(len(need) for need, _ in parts)
    if not total:
        return 1.0 if not wanted.words or wanted.words & by.words else 0.0
    return sum(len(need & have) for need, have in parts) / total


def opposed(clause: Facts, source: Facts) -> bool:
    """Whether a clause denies what the source affirms, or affirms what it denies.

    Words that the source has both ways say nothing; of the others more must clash than agree.
    """
    clash = clause.affirmed & (source.denied - source.affirmed)
    clash |= clause.denied & (source.affirmed - source.denied)
    same = (clause.affirmed & source.affirmed) | (clause.denied & source.denied)
    return len(clash) > len(same)


def _stem(word: str) -> str:
    return token(word.lower().split("'")[0])


def _wide(word: str) -> bool:
    """A single character that is a word: an ideograph, say."""
    return not word.isascii()


def _numbers(text: str) -> set[str]:
    found = {match.lower() for match in _CODE.findall(text)}
    for match in _NUMBER.findall(_CODE.sub(" ", text)):
        plain = match.replace(",", "") if _THOUSANDS.fullmatch(match) else match.replace(",", ".")
        found.add(_plain_number(plain))
    return found | {_COUNTS[word] for word in words(text) if word in _COUNTS}


def _plain_number(number: str) -> str:
    """`07:45` → `7:45`, `29.00` → `29`, and digits of every script as ASCII ones."""
    number = "".join(str(int(char)) if char.isdigit() else char for char in number)
    number = number.lstrip("0") or "0"
    return number.rstrip("0").rstrip(".") if "." in number and ":" not in number else number


def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    names: set[str] = set()
    openers: set[str] = set()
    for sentence in sentences(text):
        found = [match[0] for match in _WORD.finditer(sentence)]
        for place, word in enumerate(found):
            if not word[0].isupper() or word.lower() in EMPTY:
                continue
            name = _stem(word)
            if place and len(name) > 1:
                names.add(name)
            elif found[1:] and found[1].lower() not in FOLLOWING and not word.endswith("ly"):
                openers.add(name)
    return frozenset(names), frozenset(openers - names)
