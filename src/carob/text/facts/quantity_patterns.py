"""Find the quantities of a text. Each kind claims its part before the next one looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from carob.text.facts.dates import NOON, claim_readings, date_readers, read_noon, time_of_day
from carob.text.facts.lexicon import load_lexicon
from carob.text.facts.numerals import AMOUNT, LETTER, has_digit, parse_amount, write_in_digits
from carob.text.facts.quantities import Claim, Kind, Quantity, Reader, Reading


class Extraction(NamedTuple):
    """The quantities of a text, and the text with blanks in their place."""

    quantities: tuple[Quantity, ...]
    rest: str


# A sign follows a blank or an opening bracket: `5-7` and `X-200` have none.
_SIGNED = rf"(?:(?<![^\s(])(?P<sign>[-−]))?(?<![{LETTER}])(?P<amount>{AMOUNT})"
_SYMBOLS = "$£€¥₹₩₽₺₪₴"

_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]+|\d+(?:\.\d+){3,})(?!\w)"
)
_SPACED_CODE = re.compile(r"(?<!\w)([A-Z]{2,3}) (\d{2,5})(?![\w.,/:]\d|\w)")  # `LH 454`
_RATE = re.compile(
    r"\b(?:per|pro|par|every|each|jede[rsnm]?|chaque|cada|ogni|elke|im|al|ao)\s([^\W\d_]+)"
    r"|(?<=\btimes )an?\s([^\W\d_]+)|\b(?:once )an?\s([^\W\d_]+)",
    re.IGNORECASE,
)
_AMOUNT_AND_WORD = re.compile(r"\d+(st|nd|rd|th|er|e|am|pm|uhr|h|h\d\d)", re.IGNORECASE)
_PERCENT = re.compile(
    rf"{_SIGNED}\s?(?:%|٪|(?:per\s?cent|prozent|pour\s?cent|por\s?ciento|per\s?cento|por\s?cento"
    r"|procent|procenta|процент\w*)\b)",
    re.IGNORECASE,
)
_PREFIXED_MONEY = re.compile(
    rf"(?<!\w)(?P<before>[-−])?(?P<currency>[A-Z]{{0,3}}[{_SYMBOLS}]|[A-Z]{{3}})"
    rf"\s?(?P<sign>-)?(?P<amount>{AMOUNT})(?![{LETTER}])"
)
_FOLLOWED = re.compile(
    rf"{_SIGNED}[ -]?(?P<word>°\s?[^\W\d_]?|[{_SYMBOLS}]"
    r"|[^\W\d_]+[$23]?(?:/[^\W\d_]+2?)?(?:[ -][^\W\d_]+){0,3})"
)
_NUMBER = re.compile(_SIGNED)


def extract_quantities(text: str, language: str = "") -> Extraction:
    """Extract the quantities of a text in NFKC form. The language decides how words are read."""
    text = write_in_digits(text, language)
    found: list[tuple[int, Quantity]] = []
    readers = _readers(language, is_ascii=text.isascii()) if has_digit(text) else _DIGITLESS_READERS
    for pattern, read in readers:
        parts: list[str] = []
        last = 0
        for match in pattern.finditer(text):
            claim = read(match)
            if claim is None:
                continue
            readings, end = claim
            start = match.start()
            found.append((start, Quantity(frozenset(readings), text[start:end].strip())))
            parts += text[last:start], " " * (end - start)
            last = end
        if parts:
            text = "".join((*parts, text[last:]))
    found.sort(key=lambda item: item[0])
    unique = {quantity.readings: quantity for _, quantity in reversed(found)}
    return Extraction(tuple(reversed(unique.values())), text)


@lru_cache(maxsize=64)
def _readers(language: str, *, is_ascii: bool) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    return (
        *_WORD_READERS,
        (_CODE, _read_code),
        (_SPACED_CODE, _read_spaced_code),
        *date_readers(language, is_ascii=is_ascii),
        (_PERCENT, lambda match: (_amounts("percent", match), match.end())),
        (_PREFIXED_MONEY, _read_prefixed_money),
        (_FOLLOWED, _read_followed),
        (_RATE, _read_rate),
        (_NUMBER, _read_number),
    )


_ADVERBS = {
    adverb: unit
    for unit, adverbs in {
        "duration-hour": "hourly stündlich",
        "duration-day": "daily täglich quotidiennement diariamente dagelijks",
        "duration-week": "weekly wöchentlich hebdomadaire semanalmente wekelijks",
        "duration-month": "monthly monatlich mensuel mensualmente mensilmente maandelijks",
        "duration-year": "yearly annually annual jährlich annuel anualmente annualmente jaarlijks",
    }.items()
    for adverb in adverbs.split()
}
_ADVERB = re.compile(rf"\b(?:{'|'.join(_ADVERBS)})\b", re.IGNORECASE)


def _read_adverb(match: re.Match[str]) -> Claim:
    return [Reading("rate", _ADVERBS[match[0].lower()])], match.end()


_WORD_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (NOON, read_noon),
    (_ADVERB, _read_adverb),
)


def _read_code(match: re.Match[str]) -> Claim | None:
    code = match[0]
    names = load_lexicon()
    if code in names.exact_units:
        return None  # `m2`
    amount = re.match(r"\d+", code)
    if amount:
        rest = code[amount.end() :]
        if _AMOUNT_AND_WORD.fullmatch(code) or rest in names.exact_units:
            return None  # `14th`, `4pm`, `200mg`
        if rest.lower() in names.currencies or re.fullmatch(r"(\.\d{3})+", rest):
            return None  # `5EUR`, `1.200.000`
    return [Reading("code", code.lower())], match.end()


def _read_spaced_code(match: re.Match[str]) -> Claim | None:
    if match[1].lower() in load_lexicon().currencies:
        return None
    # Also a number: `room 14` may be written as `RM 14`.
    code = Reading("code", f"{match[1]}{match[2]}".lower())
    return [code, Reading("number", Decimal(match[2]))], match.end()


def _read_rate(match: re.Match[str]) -> Claim | None:
    """Read `per month`: another unit of time makes another fact."""
    word = (match[1] or match[2] or match[3]).lower()
    units = [unit for unit in load_lexicon().units.get(word, ()) if unit.startswith("duration-")]
    return claim_readings([Reading("rate", unit) for unit in units], match)


_DIGITLESS_READERS = (*_WORD_READERS, (_RATE, _read_rate))


def _values(match: re.Match[str]) -> Iterator[Decimal]:
    negative = match["sign"] or match.groupdict().get("before")
    for value in parse_amount(match["amount"]):
        yield -value if negative else value


def _amounts(kind: Kind, match: re.Match[str], units: Iterable[str] = ("",)) -> list[Reading]:
    return [Reading(kind, value, unit) for value in _values(match) for unit in units]


def _read_prefixed_money(match: re.Match[str]) -> Claim | None:
    currencies = _currencies(match["currency"].lower())
    return (_amounts("money", match, currencies), match.end()) if currencies else None


def _currencies(name: str) -> frozenset[str]:
    known = load_lexicon().currencies
    return known.get(name) or (known.get(name[-1], frozenset()) if name else frozenset())


def _read_followed(match: re.Match[str]) -> Claim | None:
    """Read an amount with the unit or currency that follows it, the longest that is known."""
    names = load_lexicon()
    start = match.start("word")
    for spelling in _prefixes(match["word"]):
        units = names.exact_units.get(spelling) or names.units.get(spelling.lower(), ())
        currencies = names.currencies.get(spelling.lower(), ())
        if units or currencies:
            readings = _amounts("measure", match, units) + _amounts("money", match, currencies)
            return readings, start + len(spelling)
    return None


def _prefixes(words: str) -> Iterator[str]:
    """Yield the words, then fewer of them; of scripts without blanks, fewer characters."""
    parts = re.split(r"(?<=[ -])", words)
    for count in range(len(parts), 0, -1):
        yield "".join(parts[:count]).rstrip(" -")
    if words[0] > "\u2e80":
        for length in range(min(6, len(parts[0])), 0, -1):
            yield parts[0][:length]


def _read_number(match: re.Match[str]) -> Claim:
    readings = _amounts("number", match)
    clock = re.fullmatch(r"(\d{1,2})\.(\d{2})", match["amount"])
    if clock and int(clock[1]) < 24 and int(clock[2]) < 60:  # `alle 17.25`
        readings.append(time_of_day(int(clock[1]) * 60 + int(clock[2])))
    return readings, match.end()
