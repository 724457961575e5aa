"""Numbers of cards, accounts and citizens. Each has a checksum, or is written like nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

from carob.text.sensitive.match import Piece

_DIGITS = re.compile(r"(?<![\w.,+-])\d(?:[ -]?\d){12,18}(?![\w-]|[.,]\d)")
_CARD = re.compile(r"(?:4|5[1-5]|2[2-7]|3[47]|30|36|38|6)\d+")
_IBAN = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])")
_SIGNS = re.compile(r"[\s.\-]")


class _Form(NamedTuple):
    """How a country writes the number of a citizen, and the module that checks it."""

    pattern: re.Pattern[str]
    module: str


def _written(pattern: str, module: str) -> _Form:
    return _Form(re.compile(rf"(?<![\w.,+-])(?:{pattern})(?![\w-]|[.,]\d)"), module)


def _named(names: str, pattern: str, module: str) -> _Form:
    """A number that could be any number, unless it is called by its name right before."""
    before = rf"(?i:\b(?:{names}))\b[^\w\n]{{0,3}}(?:(?:is|no|number|nr)\b[^\w\n]{{0,3}}){{0,2}}"
    return _Form(re.compile(rf"{before}(?P<number>{pattern})(?![\w-]|[.,]\d)"), module)


_NATIONAL = (
    _written(r"\d{3}-\d{2}-\d{4}", "us.ssn"),
    _written(r"756\.\d{4}\.\d{4}\.\d{2}", "ch.ssn"),
    _written(r"\d{3}\.\d{3}\.\d{3}-\d{2}", "br.cpf"),
    _written(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    _written(r"\d{8}-?[A-Z]", "es.dni"),
    _written(r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    _written(r"\d{6}[-A]\d{3}[A-Z0-9]", "fi.hetu"),
    _written(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", "mx.curp"),
    _written(r"[12] \d{2} \d{2} \d[\dAB] \d{3} \d{3} \d{2}", "fr.nir"),
    _written(r"\d{17}[\dX]", "cn.ric"),
    _named("ssn|social security", r"\d{3}[ -]?\d{2}[ -]?\d{4}", "us.ssn"),
    _named("bsn|burgerservicenummer", r"\d{4}\.?\d{2}\.?\d{3}", "nl.bsn"),
    _named("pesel", r"\d{11}", "pl.pesel"),
    _named("aadhaar", r"\d{4} ?\d{4} ?\d{4}", "in_.aadhaar"),
    _named("steuer-?id|idnr|steueridentifikationsnummer", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr"),
    _named("nir|num[eé]ro de s[eé]curit[eé] sociale", r"[12]\d{14}", "fr.nir"),
)
_HINT = re.compile(
    r"\d{6}|\d{3}[-. ]\d{2}|\d{4}[. ]\d|\d\d \d{3}|[12] \d\d \d\d |[A-Z]{6}\d\d[A-Z]"
)
"""What every number of a citizen has somewhere: most texts have nothing like it."""


def cards(text: str) -> Iterator[Piece]:
    """Numbers of payment cards, by issuer and check digit."""
    for match in _DIGITS.finditer(text):
        digits = _SIGNS.sub("", match[0])
        if _CARD.fullmatch(digits) and _valid("luhn")(digits):
            yield Piece("card", match.start(), match[0], digits)


def ibans(text: str) -> Iterator[Piece]:
    """Bank accounts, by country and check digits."""
    for match in _IBAN.finditer(text):
        number = _longest_valid(match[0])
        if number:
            yield Piece("iban", match.start(), number, _SIGNS.sub("", number))


def _longest_valid(found: str) -> str | None:
    """A word in capitals after the number may look like a part of it."""
    while len(found) >= 15:
        if _valid("iban")(found):
            return found
        found = found.rpartition(" ")[0]
    return None


def national_ids(text: str) -> Iterator[Piece]:
    """Numbers that states give to people."""
    if not _HINT.search(text):
        return
    seen: set[int] = set()
    for form in _NATIONAL:
        for match in form.pattern.finditer(text):
            group = "number" if "number" in match.re.groupindex else 0
            start, number = match.start(group), match[group]
            if start not in seen and _valid(form.module)(number):
                seen.add(start)
                yield Piece("national-id", start, number, _SIGNS.sub("", number))


@cache
def _valid(module: str) -> Callable[[str], bool]:
    return import_module(f"stdnum.{module}").is_valid
