"""Personal data and secrets in a text, found by libraries that know their checksums."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 20_000  # characters that are searched
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_DIGITS = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_CARD = re.compile(r"(?:4|5[1-5]|2[2-7]|3[47]|30|36|38|6)\d+")
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_INTERNATIONAL = re.compile(r"\+\d")
# An office is no person.
_ROLES = re.compile(
    r"(?:admin|billing|career|contact|help|hello|info|jobs|legal|mail|news|no-?reply|office|orders?"
    r"|press|privacy|sales|security|service|support|team)\w*@",
    re.IGNORECASE,
)


class Finding(NamedTuple):
    """A piece of text that should not be told, and what it is."""

    kind: str
    text: str


def findings(text: str) -> Iterator[Finding]:
    """Personal data and secrets, each piece once per kind."""
    text = text[:_LONGEST]
    yield from _each("email address", _emails(text))
    yield from _each("card number", _cards(text))
    yield from _each("social security number", _social_security(text))
    yield from _each("IBAN", _ibans(text))
    yield from _each("phone number", _phones(text))
    yield from _each("secret", _secrets(text))


def _each(kind: str, found: Iterable[str]) -> Iterator[Finding]:
    return (Finding(kind, text) for text in dict.fromkeys(found))


def _emails(text: str) -> Iterator[str]:
    return (match[0] for match in _EMAIL.finditer(text) if not _ROLES.match(match[0]))


def _cards(text: str) -> Iterator[str]:
    from stdnum import luhn

    for match in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _CARD.fullmatch(digits) and luhn.is_valid(digits):
            yield match[0]


def _social_security(text: str) -> Iterator[str]:
    from stdnum.us import ssn

    # Only as it is written: nine digits in a row are an order number.
    return (match[0] for match in _SSN.finditer(text) if ssn.is_valid(match[0]))


def _ibans(text: str) -> Iterator[str]:
    from stdnum import iban

    return (match[0] for match in _IBAN.finditer(text) if iban.is_valid(match[0]))


def _phones(text: str) -> Iterator[str]:
    if not _INTERNATIONAL.search(text):
        return
    import phonenumbers

    # Without a country any long number might be one, so only numbers with `+` are looked at.
    for match in phonenumbers.PhoneNumberMatcher(text, None):
        yield match.raw_string


def _secrets(text: str) -> Iterator[str]:
    for analyze in _detectors():
        yield from analyze(text)


@lru_cache(maxsize=1)
def _detectors() -> tuple[Callable[[str], Iterable[str]], ...]:
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.stripe import StripeDetector

    kinds = (
        AWSKeyDetector,
        AzureStorageKeyDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        JwtTokenDetector,
        OpenAIDetector,
        PrivateKeyDetector,
        SlackDetector,
        StripeDetector,
    )
    return tuple(kind().analyze_string for kind in kinds)
