"""Addresses and phone numbers of people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.text.sensitive.match import Piece

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
# An office is no person.
_OFFICE = re.compile(
    r"(?:admin|billing|careers?|contact|help|hello|info|jobs|legal|mail|news|no-?reply|office"
    r"|orders?|press|privacy|returns|sales|security|service|support|team)\d*[@.+-]",
    re.IGNORECASE,
)
_INTERNATIONAL = re.compile(r"(?<![\w+])\+\(?\d")
# Numbers without a country are taken for phone numbers only in the one way to write them that
# nothing else has: an order number may have any number of digits.
_AMERICAN = re.compile(r"(?<![\w.,+()-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w.-]?\d)")
_LONGEST = 32
"""Characters of a phone number, spaces and brackets included."""


def emails(text: str) -> Iterator[Piece]:
    """Addresses, but not those of offices such as `support@`."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if not _OFFICE.match(match[0]):
            yield Piece("email", match.start(), match[0], match[0].lower())


def phones(text: str) -> Iterator[Piece]:
    """Numbers with their country, and American ones, that the numbering plan knows."""
    for match in _INTERNATIONAL.finditer(text):
        yield from _phone(text, match.start(), None)
    for match in _AMERICAN.finditer(text):
        yield from _phone(text, match.start(), "US")


def _phone(text: str, start: int, region: str | None) -> Iterator[Piece]:
    import phonenumbers

    window = text[start : start + _LONGEST]
    for match in phonenumbers.PhoneNumberMatcher(window, region):
        if match.start <= 1:  # an opening bracket may be left out
            number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
            yield Piece("phone", start + match.start, match.raw_string, number)
        return
