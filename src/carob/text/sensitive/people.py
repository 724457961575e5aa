"""Email addresses and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.text.sensitive.match import SensitiveMatch

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
# Addresses of departments are not personal data.
_DEPARTMENT = re.compile(
    r"(?:admin|billing|careers?|contact|help|hello|info|jobs|legal|mail|news|no-?reply|office"
    r"|orders?|press|privacy|returns|sales|security|service|support|team)\d*[@.+-]",
    re.IGNORECASE,
)
_INTERNATIONAL = re.compile(r"(?<![\w+])\+\(?\d")
# Without a country code only the American form is unmistakable: an order number may have any number
# of digits.
_AMERICAN = re.compile(r"(?<![\w.,+()-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w.-]?\d)")
_MAX_LENGTH = 32
"""Characters of a phone number, with spaces and brackets."""


def emails(text: str) -> Iterator[SensitiveMatch]:
    """Find email addresses, but not those of departments such as `support@`."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if not _DEPARTMENT.match(match[0]):
            yield SensitiveMatch("email", match.start(), match[0], match[0].lower())


def phones(text: str) -> Iterator[SensitiveMatch]:
    """Find international and American numbers that are valid in their numbering plan."""
    for match in _INTERNATIONAL.finditer(text):
        yield from _match_phone(text, match.start(), None)
    for match in _AMERICAN.finditer(text):
        yield from _match_phone(text, match.start(), "US")


def _match_phone(text: str, start: int, region: str | None) -> Iterator[SensitiveMatch]:
    import phonenumbers

    window = text[start : start + _MAX_LENGTH]
    for match in phonenumbers.PhoneNumberMatcher(window, region):
        if match.start <= 1:  # an opening bracket may be left out
            number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
            yield SensitiveMatch("phone", start + match.start, match.raw_string, number)
        return
