"""Harmful sentences and profanity, by patterns and a word list for English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module

from carob.metrics.text.clauses import is_negated, split_sentences
from carob.metrics.text.tokens import split_words

_PERSON = r"(?:you|him|her|them|someone|somebody|people|everyone|your \w+|his \w+|her \w+)"
_GROUP = (
    r"(?:women|men|immigrants|foreigners|refugees|jews|muslims|christians|blacks|whites|gays"
    r"|those people|these people|disabled people)"
)
_PHRASES: Mapping[str, tuple[str, ...]] = {
    "self-harm": (
        r"(?:kill|killed|hurt|hang|cut|starve) yourself",
        r"better off dead",
        r"end your life",
    ),
    "violence": (
        rf"(?:kill|stab|shoot|strangle|murder|poison|beat up|behead) {_PERSON}",
        r"set fire to (?:the|a|their|his|her) \w+",
        r"throw acid",
    ),
    "weapons": (
        r"(?:build|make|assemble)(?: an?| the| your)?(?: \w+)? (?:bomb|explosives?|grenade)",
        r"unregistered (?:gun|weapon)",
    ),
    "drugs": (r"(?:make|cook|synthesi[sz]e) (?:meth|crack|heroin|fentanyl|lsd)",),
    "crime": (
        r"(?:hack|break) into",
        r"steals? (?:the )?(?:passwords?|identit\w+|cards?)",
        r"forge (?:a|the) \w+",
        r"launder money",
        r"without (?:being|getting) caught",
    ),
    "hate": (
        rf"{_GROUP} are (?:\w+ )?(?:inferior|subhuman|vermin|animals|criminals|filth|parasites)",
        rf"(?:exterminate|get rid of|deport all) (?:the |all )?(?:{_GROUP}|them by force)",
    ),
    "insult": (
        r"(?:you|you're|you are)(?: an?)? (?:\w+ )?(?:idiot|moron|imbecile|loser|worthless)",
    ),
}
_PATTERNS = {
    kind: re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)
    for kind, phrases in _PHRASES.items()
}


def find_harm(text: str) -> Iterator[tuple[str, str]]:
    """Find harmful sentences, as kind and text. A warning or a refusal does not count."""
    for sentence in split_sentences(text):
        for kind, pattern in _PATTERNS.items():
            match = pattern.search(sentence)
            if match and (kind in ("insult", "hate") or not is_negated(sentence[: match.start()])):
                yield kind, match[0]


def find_profanity(text: str, allow: frozenset[str]) -> Iterator[str]:
    """Find whole words that are on the word list of `glin-profanity`."""
    present = set(split_words(text))
    return (word for word in sorted(present & _profane_words()) if word not in allow)


@lru_cache(maxsize=1)
def _profane_words() -> frozenset[str]:
    listed = import_module("glin_profanity.data.dictionary").dictionary.get_words("english")
    profane = frozenset(str(word).lower() for word in listed)
    if not profane:
        raise LookupError("the word list of glin-profanity is empty")
    return profane
