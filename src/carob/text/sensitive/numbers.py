"""Card numbers, bank accounts and national ids: by checksum, or by an unmistakable form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from carob.text.sensitive.match import SensitiveMatch

# A comma before a number separates columns, unless a digit comes before it, as in `3,141,592`.
_DIGITS = re.compile(r"(?<![\w.+-])(?<!\d,)\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)")
_CARD = re.compile(r"(?:4|5[1-5]|2[2-7]|3[47]|30|36|38|6)\d+")
_IBAN = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])")
_SEPARATORS = re.compile(r"[\s.\-]")


class _Form(NamedTuple):
    """How a country writes its national id, and the module that validates it."""

    pattern: re.Pattern[str]
    module: str


def _unmistakable(pattern: str, module: str) -> _Form:
    return _Form(re.compile(rf"(?<![\w.+-])(?<!\d,)(?:{pattern})(?![\w-]|[.,]\d)"), module)


def _label_form(names: str, pattern: str, module: str) -> _Form:
    """Return the form of an id that could be any number, so its name must come right before it."""
    label = rf"(?i:\b(?:{names}))\b[^\w\n]{{0,3}}(?:(?:is|no|number|nr)\b[^\w\n]{{0,3}}){{0,2}}"
    return _Form(re.compile(rf"{label}(?P<number>{pattern})(?![\w-]|[.,]\d)"), module)


_NATIONAL = (
    _unmistakable(r"\d{3}-\d{2}-\d{4}", "us.ssn"),
    _unmistakable(r"756\.\d{4}\.\d{4}\.\d{2}", "ch.ssn"),
    _unmistakable(r"\d{3}\.\d{3}\.\d{3}-\d{2}", "br.cpf"),
    _unmistakable(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    _unmistakable(r"\d{8}-?[A-Z]", "es.dni"),
    _unmistakable(r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    _unmistakable(r"\d{6}[-A]\d{3}[A-Z0-9]", "fi.hetu"),
    _unmistakable(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", "mx.curp"),
    _unmistakable(r"[12] \d{2} \d{2} \d[\dAB] \d{3} \d{3} \d{2}", "fr.nir"),
    _unmistakable(r"\d{17}[\dX]", "cn.ric"),
    _label_form("ssn|social security", r"\d{3}[ -]?\d{2}[ -]?\d{4}", "us.ssn"),
    _label_form("bsn|burgerservicenummer", r"\d{4}\.?\d{2}\.?\d{3}", "nl.bsn"),
    _label_form("pesel", r"\d{11}", "pl.pesel"),
    _label_form("aadhaar", r"\d{4} ?\d{4} ?\d{4}", "in_.aadhaar"),
    _label_form(
        "steuer-?id|idnr|steueridentifikationsnummer", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr"
    ),
    _label_form("nir|num[eé]ro de s[eé]curit[eé] sociale", r"[12]\d{14}", "fr.nir"),
)
_HINT = re.compile(
    r"\d{6}|\d{3}[-. ]\d{2}|\d{4}[. ]\d|\d\d \d{3}|[12] \d\d \d\d |[A-Z]{6}\d\d[A-Z]"
)
"""Something that every national id contains. Most texts do not, and are skipped quickly."""


def cards(text: str) -> Iterator[SensitiveMatch]:
    """Find payment card numbers, by issuer and check digit."""
    for match in _DIGITS.finditer(text):
        digits = _SEPARATORS.sub("", match[0])
        if _CARD.fullmatch(digits) and _validator("luhn")(digits):
            yield SensitiveMatch("card", match.start(), match[0], digits)


def ibans(text: str) -> Iterator[SensitiveMatch]:
    """Find bank account numbers, by country and check digits."""
    for match in _IBAN.finditer(text):
        number = _longest_valid(match[0])
        if number:
            yield SensitiveMatch("iban", match.start(), number, _SEPARATORS.sub("", number))


def _longest_valid(candidate: str) -> str | None:
    """Return the longest valid prefix. A word in capitals may follow the number: `… 00 NOW`."""
    while len(candidate) >= 15:
        if _validator("iban")(candidate):
            return candidate
        candidate = candidate.rpartition(" ")[0]
    return None


def national_ids(text: str) -> Iterator[SensitiveMatch]:
    """Find national ids, such as social security numbers."""
    if not _HINT.search(text):
        return
    seen: set[int] = set()
    for form in _NATIONAL:
        for match in form.pattern.finditer(text):
            group = "number" if "number" in match.re.groupindex else 0
            start, number = match.start(group), match[group]
            if start not in seen and _validator(form.module)(number):
                seen.add(start)
                yield SensitiveMatch("national-id", start, number, _SEPARATORS.sub("", number))


@cache
def _validator(module: str) -> Callable[[str], bool]:
    return import_module(f"stdnum.{module}").is_valid
