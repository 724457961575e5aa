"""Texts taken apart into sentences and clauses, and whether a clause denies what it says."""

from __future__ import annotations

import re

from carob.metrics.tokens import words
from carob.metrics.vocabulary import NEGATORS, NO, YES

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？।؟])|\n+")
_CLAUSE = re.compile(
    r"[;:,()、，；：–—]+\s*"
    r"|\b(?:and|or|but|while|und|oder|aber|y|pero|et|ou|mais|e|mas|en|maar|и|но|ve)\b"
    r"|(?=\b(?:no|without|ohne|kein\w*|sin|sem|sans|senza|zonder|без)\b)",
    re.IGNORECASE,
)
_SHORTEST = 3  # words of a clause
_NUMBER_COMMA = re.compile(r"(?<=\d)[,:](?=\d)")

_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_WITHIN = ("不", "没", "無い", "ません", "ない", "なかった")


def sentences(text: str) -> list[str]:
    """The sentences of a text; a line of a list is one too."""
    parts = [part.strip() for part in _SENTENCE.split(text)]
    return [part for part in parts if part]


def clauses(text: str) -> list[str]:
    """The parts of sentences that say one thing each; a bare yes or no says nothing."""
    found: list[str] = []
    for sentence in sentences(text):
        kept = _NUMBER_COMMA.sub(lambda mark: "\0" if mark[0] == "," else "\1", sentence)
        parts = [part.replace("\0", ",").replace("\1", ":").strip() for part in _CLAUSE.split(kept)]
        found += _joined(
            [part for part in parts if part and part.lower().strip(".!") not in YES | NO]
        )
    return found


def _joined(parts: list[str]) -> list[str]:
    """Bits of an enumeration with what they belong to: `glass` and `water are not covered`."""
    found: list[str] = []
    waiting: list[str] = []
    for part in parts:
        waiting.append(part)
        if len(words(part)) >= _SHORTEST or denies(part):
            found.append(", ".join(waiting))
            waiting = []
    if waiting and found:
        found[-1] = ", ".join([found[-1], *waiting])
        return found
    return found + ([", ".join(waiting)] if waiting else [])


def denies(clause: str) -> bool:
    """Whether the clause holds a negation. Two of them are rarely an affirmation in practice."""
    if _SHORT_NOT.search(clause) or any(sign in clause for sign in _WITHIN):
        return True
    return not NEGATORS.isdisjoint(words(clause))


def answer(text: str) -> bool | None:
    """Whether the text starts with a yes or a no; `None` if with neither."""
    first = next(iter(words(text[:40])), "")
    if first in YES:
        return True
    return False if first in NO else None
