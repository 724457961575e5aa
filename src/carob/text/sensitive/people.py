"""Email addresses and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from carob.text.language import guess_language
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
# of digits. Other forms need a word that says what they are, and the numbering plan of a country.
_AMERICAN = re.compile(r"(?<![\w.,+()-])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\w.-]?\d)")
_NATIONAL = re.compile(r"(?<![\w.,:+/-])\(?\d{2,12}\)?(?:[ /.-]{1,3}\d{2,9}){0,5}(?![\w-]|[.,:]\d)")
_PHONE_WORD = re.compile(
    r"\b(?:(?:tele)?(?:phone|fon|foon|fono|fone)|tel\b|t[ée]l[ée]|call(?:ed|ing|back|\b)|ring me"
    r"|mobile?|handy|whatsapp|sms\b|fax|(?:r[üu]ck|an|zur[üu]ck)?ruf|erreich|r?appel|joindre"
    r"|portable|ll[aá]m[aeo]|m[oó]vil|cel+ular|chiam|bellen|bel me|ligar|telem|zadzwo|komórk"
    r"|aray[ıi]n)",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"(?:order|invoice|ticket|case|account|customer|tracking|article|item|bestell|auftrag|rechnung"
    r"|kunden|artikel|vorgang|commande|facture|client|pedido|factura|ordine|fattura)\w*\W{0,3}"
    r"(?:(?:number|no|nr|nummer|num[eé]ro|n[uú]mero|id)\b\W{0,3})?\Z",
    re.IGNORECASE,
)
_FEWEST_DIGITS = 7
_BEFORE, _AFTER = 60, 25
"""Characters around a number in which a word says that it is a phone number."""
_REGIONS = {
    "en": ("GB", "US", "AU", "IE"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "BE", "CH"),
    "es": ("ES", "MX", "AR"),
    "it": ("IT", "CH"),
    "nl": ("NL", "BE"),
    "pt": ("PT", "BR"),
    "pl": ("PL",),
    "tr": ("TR",),
}
"""Where the speakers of a language probably call."""
_SERVICE_ACCOUNT = (".gserviceaccount.com", "@bots.noreply.github.com")
_MAX_LENGTH = 32
"""Characters of a phone number, with spaces and brackets."""


def emails(text: str) -> Iterator[SensitiveMatch]:
    """Find email addresses, but not those of departments such as `support@`, and not those of
    service accounts, which are programs."""
    if "@" not in text:
        return
    for match in _EMAIL.finditer(text):
        if not _DEPARTMENT.match(match[0]) and not match[0].lower().endswith(_SERVICE_ACCOUNT):
            yield SensitiveMatch("email", match.start(), match[0], match[0].lower())


def phones(text: str, region: str | None = None) -> Iterator[SensitiveMatch]:
    """Find numbers that are valid in their numbering plan: international and American ones, and
    national ones of the region or of the language of the text."""
    for match in _INTERNATIONAL.finditer(text):
        yield from _match_phone(text, match.start(), None)
    for match in _AMERICAN.finditer(text):
        yield from _match_phone(text, match.start(), "US")
    if _PHONE_WORD.search(text):
        regions: list[str] = []
        for match in _NATIONAL.finditer(text):
            if _has_enough_digits(match[0]) and _is_called_a_phone(text, match):
                regions = regions or _likely_regions(text, region)
                yield from _match_national(text, match.start(), regions)


def _likely_regions(text: str, region: str | None) -> list[str]:
    own = _REGIONS.get(guess_language(text)) or [first for first, *_ in _REGIONS.values()]
    return [*dict.fromkeys([*([region] if region else []), *own])]


def _has_enough_digits(number: str) -> bool:
    return sum(char.isdigit() for char in number) >= _FEWEST_DIGITS


def _is_called_a_phone(text: str, number: re.Match[str]) -> bool:
    before = text[max(0, number.start() - _BEFORE) : number.start()]
    after = text[number.end() : number.end() + _AFTER]
    is_other = _OTHER_NUMBER.search(before) is not None
    return not is_other and bool(_PHONE_WORD.search(before) or _PHONE_WORD.search(after))


def _match_national(text: str, start: int, regions: list[str]) -> Iterator[SensitiveMatch]:
    matches = (match for region in regions for match in _match_phone(text, start, region))
    yield from islice(matches, 1)


def _match_phone(text: str, start: int, region: str | None) -> Iterator[SensitiveMatch]:
    import phonenumbers

    window = text[start : start + _MAX_LENGTH]
    for match in phonenumbers.PhoneNumberMatcher(window, region):
        if match.start <= 1:  # an opening bracket may be left out
            number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
            yield SensitiveMatch("phone", start + match.start, match.raw_string, number)
        return
