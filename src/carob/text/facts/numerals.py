"""Numbers as they are written: digits of any script, scales such as `Mio.`, and number words."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from unicodedata import decimal

from carob.text.facts.lexicon import has_packages

AMOUNT = r"(?:\d{1,3}(?:[.,'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
"""A pattern for an amount in digits, in any notation."""
# Scripts without blanks between words may surround a number; letters of the others may not.
LETTER = r"A-Za-z0-9_\u00c0-\u05ff"
"""Characters, for a pattern, that cannot stand beside a number."""
START, END = rf"(?<![{LETTER}.,/:-])", rf"(?![{LETTER}]|[.,/:-]\d)"
"""Patterns for the boundaries of a number of several parts."""

_SCALES = {
    word: power
    for power, words in {
        3: "thousand tausend tsd mille mila duizend tysięcy",
        4: "万",
        6: """
            million millions mio mln millionen millón millones milione milioni milhão milhões
            miljoen milyon milion miliony milionów миллион миллиона миллионов مليون
        """,
        8: "億 亿",
        9: """
            billion billions bn milliarde milliarden mrd milliard milliards miliardo miliardi
            miljard milyar bilhão bilhões مليار
        """,
        12: "trillion trillions billionen billón billones",
    }.items()
    for word in words.split()
}
# Words that are a scale in one language and something else in the others.
_SCALES_OF = {"de": {"billion": 12}, "es": {"mil": 3}, "pt": {"mil": 3}, "tr": {"bin": 3}}
# Thousands with blanks. An English `2 400 mg tablets` are two tablets.
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?!\d)")
_SPACED_ENGLISH = re.compile(r"(?<![\w.,])(?:\d{2,3} \d{3}|\d{1,3}(?: \d{3}){2,})(?!\d)")
_SUFFIXES = {"k": 3, "K": 3, "M": 6}
_SCALED = re.compile(rf"(?<![\w.,])({AMOUNT})(?:([kKM])(?!\w)|([万億亿])|\s?([^\W\d_]+)\.?(?!\w))")
_PERCENT = re.compile(r"(?<=\d)\s(?:per|pour|por)\s?(?:cent|cento|ciento)\b", re.IGNORECASE)
_MINUS = re.compile(r"\b(?:minus|moins|menos|meno|eksi)\s+(?=\d)", re.IGNORECASE)
_BELOW_ZERO = re.compile(
    r"(?<![\w.,-])(\d+(?:[.,]\d+)?)((?:\s?°\s?[CF]|\s(?:degrees|grad|degrés|grados|gradi))?)"
    r"\s(?:below zero|unter null|bajo cero|sous zéro|sotto zero|onder nul)\b",
    re.IGNORECASE,
)

# Amounts that are no number words. The first that fits is taken.
_PHRASES = {
    "half a dozen": "6",
    "(?:a|one) dozen": "12",
    "(?:ein )?halbes dutzend": "6",
    "ein dutzend": "12",
    "une douzaine": "12",
    "una docena": "12",
    "an hour and a half": "1.5 hours",
    "half an hour": "0.5 hours",
    "(?:anderthalb|eineinhalb)": "1,5",
    "(?:eine )?halbe stunde": "0,5 Stunden",
    "une demi-heure": "0,5 heures",
    "hora y media": "1,5 horas",
    "media hora": "0,5 horas",
    "mezz[’']?ora": "0,5 ore",
    "twice": "2 times",
    "zweimal": "2 mal",
    "dreimal": "3 mal",
}
_PHRASE = re.compile("|".join(rf"(\b{phrase}\b)" for phrase in _PHRASES), re.IGNORECASE)
_AMOUNTS = tuple(_PHRASES.values())
_THIRDS = re.compile(r"\b(\d|one|a) (\d{1,2})(?:rds?|ths?)\b(?=\sof\b)", re.IGNORECASE)

_PAST = re.compile(
    r"(?:\bhalf past (?=\d))(\d{1,2})\b|(?<=\blas )(\d{1,2}) y media\b", re.IGNORECASE
)
_HALF_TO = re.compile(r"\bhalb (\d{1,2})\b", re.IGNORECASE)  # `halb neun` is 8:30

_NUMBER_WORD_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_COUNT_WORDS = "two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: str(number) for number, word in enumerate(_COUNT_WORDS.split(), 2)}
_COUNT = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)


def write_in_digits(text: str, language: str) -> str:
    """Write all numbers of a text in ASCII digits: `٥`, `2,4 Mio.`, `twenty-one`, `minus five`."""
    if not text.isascii():
        text = "".join(str(decimal(char)) if char.isdecimal() else char for char in text)
    if has_digit(text):
        pattern = _SPACED_ENGLISH if language == "en" else _SPACED
        text = pattern.sub(lambda match: match[0].replace(" ", ""), text)
        scales = _SCALES | _SCALES_OF.get(language, {})
        text = _SCALED.sub(lambda match: _expand(match, scales), text)
        text = _PERCENT.sub(" %", text)  # before `cent` becomes 100
    text = _PHRASE.sub(lambda match: _AMOUNTS[(match.lastindex or 1) - 1], text)
    text = _replace_number_words(text, language)
    if has_digit(text):
        text = _THIRDS.sub(
            lambda match: f"{match[1] if match[1].isdigit() else 1}/{match[2]}", text
        )
        text = _MINUS.sub("-", text)
        text = _PAST.sub(lambda match: f"{match[1] or match[2]}:30", text)
        text = _HALF_TO.sub(lambda match: f"{(int(match[1]) - 1) % 24}:30", text)
        text = _BELOW_ZERO.sub(r"-\1\2", text)
    return text


_DIGIT = re.compile(r"\d")


def has_digit(text: str) -> bool:
    """Tell whether a text has a digit."""
    return _DIGIT.search(text) is not None


def parse_amount(amount: str) -> frozenset[Decimal]:
    """Return the possible values of an amount: `1.200` is 1.2 or 1200."""
    plain = re.sub(r"['’]", "", amount)
    marks = [char for char in plain if char in ".,"]
    if len(set(marks)) == 2:
        plain = plain.replace(marks[0], "")  # the last mark is the decimal point
        return frozenset({Decimal(plain.replace(",", "."))})
    if len(marks) > 1:
        return frozenset({Decimal(plain.replace(marks[0], ""))})
    if not marks:
        return frozenset({Decimal(plain)})
    whole, part = plain.split(marks[0])
    fraction = Decimal(f"{whole}.{part}")
    if len(part) == 3 and len(whole) <= 3 and not whole.startswith("0"):
        return frozenset({fraction, Decimal(whole + part)})
    return frozenset({fraction})


def _expand(match: re.Match[str], scales: dict[str, int]) -> str:
    suffix, cjk, word = match[2], match[3], match[4]
    power = _SUFFIXES[suffix] if suffix else scales.get((cjk or word).lower())
    if power is None:
        return match[0]
    # Nobody writes thousands of millions with a separator: `1.200 million` is 1.2 million.
    value = min(parse_amount(match[1])) * 10**power
    return f"{value.normalize():f}"


def _replace_number_words(text: str, language: str) -> str:
    if not has_packages():
        return _COUNT.sub(lambda match: _COUNTS[match[0].lower()], text)
    if language in _NUMBER_WORD_LANGUAGES:
        return _load_converter()(text, language, 2.0)
    if language:
        return text
    # `acht Monate` is too short to tell the language by: take the first that has these words. With
    # digits that would go wrong: `5 miles` are 5 thousands in Spanish.
    for code in ("en",) if has_digit(text) else _NUMBER_WORD_LANGUAGES:
        replaced = _load_converter()(text, code, 2.0)
        if replaced != text:
            return replaced
    return text


@lru_cache(maxsize=1)
def _load_converter() -> Callable[[str, str, float], str]:
    """Return a function of text, language and the smallest number to write in digits.

    From 2 on, because `one`, `un` and `ein` are articles as well.
    """
    return import_module("text_to_num").alpha2digit  # late: an optional package without types
