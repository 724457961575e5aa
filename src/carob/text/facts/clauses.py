"""Sentences and clauses of a text, and whether a clause is negated."""

from __future__ import annotations

import re

from carob.text.language import guess_language
from carob.text.tokens import split_words
from carob.text.vocabulary import NEGATORS, NO, YES

# `1. Mai` and `3. Etage` go on: a point after a number ends no sentence before a month or a
# small letter.
_ORDINAL = r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)|[a-zäöüß]"
_SENTENCE = re.compile(
    rf"(?<=[!?…])[\"'”’)\]]*\s+|(?<=\.)[\"'”’)\]]*\s+(?!(?<=\d\.\s)(?:{_ORDINAL}))"
    r"|(?<=[。！？।؟])|\n+"
)
_CLAUSE = re.compile(
    r"[;:,()、，；：–—]+\s*"
    r"|\b(?:and|or|but|while|und|oder|aber|y|pero|et|ou|mais|e|mas|en|maar|и|но|ve)\b"
    r"|(?=\b(?:no|without|ohne|kein\w*|sin|sem|sans|senza|zonder|без"
    r"|except|excluding|außer|ausgenommen|sauf|excepto|salvo|eccetto|tranne|exceto|behalve)\b)",
    re.IGNORECASE,
)
_MIN_WORDS = 3  # of a clause
_NUMBER_COMMA = re.compile(r"(?<=\d)[,:](?=\d)")

_CONTRACTED_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
# Negations that are other words in other languages, with the languages in which they negate:
# `mai` is the month of May, and `no` is `in the` in Portuguese.
_OTHER_MEANING = {"mai": ("it",), "no": ("", "en", "es", "it", "fr", "de", "nl", "tr", "pl")}
_NEGATION_SIGNS = ("不", "没", "無い", "ません", "ない", "なかった")


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences. Each line of a list is a sentence."""
    parts = [part.strip() for part in _SENTENCE.split(text)]
    return [part for part in parts if part]


def split_clauses(text: str) -> list[str]:
    """Split a text into clauses, without those that are only a yes or a no."""
    clauses: list[str] = []
    for sentence in split_sentences(text):
        # `1,200` and `7:45` must not be split.
        masked = _NUMBER_COMMA.sub(lambda mark: "\0" if mark[0] == "," else "\1", sentence)
        parts = [
            part.replace("\0", ",").replace("\1", ":").strip() for part in _CLAUSE.split(masked)
        ]
        clauses += _join_fragments(
            [part for part in parts if part and part.lower().strip(".!") not in YES | NO]
        )
    return clauses


def _join_fragments(parts: list[str]) -> list[str]:
    """Join short parts of an enumeration with the next clause: `glass`, `water are not covered`."""
    joined: list[str] = []
    pending: list[str] = []
    for part in parts:
        pending.append(part)
        if len(split_words(part)) >= _MIN_WORDS or is_negated(part):
            joined.append(", ".join(pending))
            pending = []
    if pending and joined:
        joined[-1] = ", ".join([joined[-1], *pending])
        return joined
    return joined + ([", ".join(pending)] if pending else [])


def is_negated(clause: str) -> bool:
    """Tell whether the clause has a negation. In practice, two rarely make an affirmation."""
    if _CONTRACTED_NOT.search(clause) or any(sign in clause for sign in _NEGATION_SIGNS):
        return True
    negators = NEGATORS.intersection(split_words(clause))
    if negators <= _OTHER_MEANING.keys():
        language = guess_language(clause) if negators else ""
        negators = {word for word in negators if language in _OTHER_MEANING[word]}
    return bool(negators)


def yes_or_no(text: str) -> bool | None:
    """Tell whether the text starts with a yes or a no; `None` if with neither."""
    first = next(iter(split_words(text[:40])), "")
    if first in YES:
        return True
    return False if first in NO else None
