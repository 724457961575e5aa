"""Sentences and clauses of a text, and whether a clause is negated."""

from __future__ import annotations

import re

from carob.metrics.text.tokens import split_words
from carob.metrics.text.vocabulary import NEGATORS, NO, YES

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？।؟])|\n+")
_CLAUSE = re.compile(
    r"[;:,()、，；：–—]+\s*"
    r"|\b(?:and|or|but|while|und|oder|aber|y|pero|et|ou|mais|e|mas|en|maar|и|но|ve)\b"
    r"|(?=\b(?:no|without|ohne|kein\w*|sin|sem|sans|senza|zonder|без)\b)",
    re.IGNORECASE,
)
_MIN_WORDS = 3  # of a clause
_NUMBER_COMMA = re.compile(r"(?<=\d)[,:](?=\d)")

_CONTRACTED_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
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
    return not NEGATORS.isdisjoint(split_words(clause))


def yes_or_no(text: str) -> bool | None:
    """Tell whether the text starts with a yes or a no; `None` if with neither."""
    first = next(iter(split_words(text[:40])), "")
    if first in YES:
        return True
    return False if first in NO else None
