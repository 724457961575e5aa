"""Find the quantities of a text. Each kind claims its part before the next one looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from carob.metrics.text.lexicon import has_packages, load_lexicon
from carob.metrics.text.numerals import AMOUNT, has_digit, parse_amount, write_in_digits
from carob.metrics.text.quantities import Date, Kind, Quantity, Reading

Claim: TypeAlias = tuple[Iterable[Reading], int]
"""What a part of the text means, and where it ends."""
Reader: TypeAlias = Callable[["re.Match[str]"], Claim | None]


class Extraction(NamedTuple):
    """The quantities of a text, and the text with blanks in their place."""

    quantities: tuple[Quantity, ...]
    rest: str


# Scripts without blanks between words may surround a number; letters of the others may not.
_LETTER = r"A-Za-z0-9_\u00c0-\u05ff"
# A sign follows a blank or an opening bracket: `5-7` and `X-200` have none.
_SIGNED = rf"(?:(?<![^\s(])(?P<sign>[-−]))?(?<![{_LETTER}])(?P<amount>{AMOUNT})"
_START, _END = rf"(?<![{_LETTER}.,/:-])", rf"(?![{_LETTER}]|[.,/:-]\d)"
_SYMBOLS = "$£€¥₹₩₽₺₪₴"

_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]+|\d+(?:\.\d+){3,})(?!\w)"
)
_SPACED_CODE = re.compile(r"(?<!\w)([A-Z]{2,3}) (\d{2,5})(?![\w.,/:]\d|\w)")  # `LH 454`
_FRACTION = re.compile(rf"{_START}(\d{{1,2}})/(\d{{1,2}}){_END}")
_RATE = re.compile(
    r"\b(?:per|pro|par|every|each|jede[rsnm]?|chaque|cada|ogni|elke|im|al|ao)\s([^\W\d_]+)"
    r"|(?<=\btimes )an?\s([^\W\d_]+)|\b(?:once )an?\s([^\W\d_]+)",
    re.IGNORECASE,
)
_AMOUNT_AND_WORD = re.compile(r"\d+(st|nd|rd|th|er|e|am|pm|uhr|h|h\d\d)", re.IGNORECASE)
_ISO_DATE = re.compile(rf"{_START}(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:T[\d:.Z+-]*)?{_END}")
_NUMERIC_DATE = re.compile(rf"{_START}(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_END}")
_MONTH = r"(?P<month>[^\W\d_]{3,})\b(?:\.(?=,?\s\d))?"  # any word; the reader knows the months
_OF = r"(?:of\s|de\s|del\s|di\s|d['’])?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|ère|º|ª|°|\.)?"
_YEAR = rf"(?:,?\s{_OF}(?P<year>\d{{4}})(?![\w.,]\d))"
_NAMED_DATES = (
    re.compile(rf"(?<![\w.,:/]){_DAY}\s?{_OF}{_MONTH}{_YEAR}?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\s(?:the\s)?{_DAY}(?![\w:%]|[.,]\d){_YEAR}?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}{_YEAR}(?P<day>(?!))?", re.IGNORECASE),
)
_CJK_DATE = re.compile(r"(?:(\d{4})\s?[年년]\s?)?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号일])?")
_TIME = re.compile(
    rf"(?<![{_LETTER}.,:/])(\d{{1,2}})"
    r"(?:(?:[:h]|\sh\s)(\d{2})(?::\d{2})?(?!\d)|\.(\d{2})(?=\s?(?:uhr|uur|[ap]\.?m|h\b)))"
    r"(?:\s?([ap])\.?\s?m\b\.?|\s?(?:uhr|uur|h)\b)?",
    re.IGNORECASE,
)
_HOUR = re.compile(
    r"(?<![\w.,:/])(\d{1,2})\s?(?:([ap])\.?\s?m\b\.?|(?:uhr|o['’]clock)\b|(heures?|uur|h)\b)",
    re.IGNORECASE,
)
_CJK_TIME = re.compile(
    r"(午前|午後|上午|下午|早上|晚上|오전|오후)?\s?(\d{1,2})\s?[時时点點시](?![間间간])"
    r"(?:\s?(\d{1,2})\s?[分분]|(半))?"
)
_NOON = {
    word: minutes
    for minutes, words in {
        720: "noon midday mezzogiorno mediodía",
        0: "midnight mitternacht minuit medianoche mezzanotte middernacht",
    }.items()
    for word in words.split()
}
_NOON_WORD = re.compile(rf"\b(?:12\s)?({'|'.join(_NOON)})\b", re.IGNORECASE)
_PERCENT = re.compile(
    rf"{_SIGNED}\s?(?:%|٪|(?:per\s?cent|prozent|pour\s?cent|por\s?ciento|per\s?cento|por\s?cento"
    r"|procent|procenta|процент\w*)\b)",
    re.IGNORECASE,
)
_PREFIXED_MONEY = re.compile(
    rf"(?<!\w)(?P<before>[-−])?(?P<currency>[A-Z]{{0,3}}[{_SYMBOLS}]|[A-Z]{{3}})"
    rf"\s?(?P<sign>-)?(?P<amount>{AMOUNT})(?![{_LETTER}])"
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
        for match in [*pattern.finditer(text)]:
            claim = read(match)
            if claim is None:
                continue
            readings, end = claim
            start = match.start()
            found.append((start, Quantity(frozenset(readings), text[start:end].strip())))
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    found.sort(key=lambda item: item[0])
    unique = {quantity.readings: quantity for _, quantity in reversed(found)}
    return Extraction(tuple(reversed(unique.values())), text)


@lru_cache(maxsize=64)
def _readers(language: str, *, is_ascii: bool) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    english = language in ("en", "")
    return (
        *_WORD_READERS,
        (_CODE, _read_code),
        (_SPACED_CODE, _read_spaced_code),
        (_ISO_DATE, _read_iso_date),
        (_NUMERIC_DATE, _read_numeric_date),
        (_FRACTION, _read_fraction),
        *(() if is_ascii else ((_CJK_DATE, _read_cjk_date),)),
        *((pattern, _read_named_date) for pattern in _NAMED_DATES if has_packages()),
        (_TIME, lambda match: _read_time(match, english=english)),
        (_HOUR, _read_hour),
        *(() if is_ascii else ((_CJK_TIME, _read_cjk_time),)),
        (_PERCENT, lambda match: (_amounts("percent", match), match.end())),
        (_PREFIXED_MONEY, _read_prefixed_money),
        (_FOLLOWED, _read_followed),
        (_RATE, _read_rate),
        (_NUMBER, _read_number),
    )


def _read_noon(match: re.Match[str]) -> Claim:
    return [_time(_NOON[match[1].lower()])], match.end()


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
    (_NOON_WORD, _read_noon),
    (_ADVERB, _read_adverb),
)


def _read_code(match: re.Match[str]) -> Claim | None:
    code = match[0]
    amount = re.match(r"\d+", code)
    if amount and code[0].isdigit():
        rest = code[amount.end() :]
        names = load_lexicon()
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


def _read_fraction(match: re.Match[str]) -> Claim | None:
    first, second = int(match[1]), int(match[2])
    readings = [*_date(None, second, match[1]), *_date(None, first, match[2])]
    if second:
        readings.append(Reading("number", Decimal(first) / Decimal(second)))
    return _claim(readings, match)


def _read_rate(match: re.Match[str]) -> Claim | None:
    """Read `per month`: another unit of time makes another fact."""
    word = (match[1] or match[2] or match[3]).lower()
    units = [unit for unit in load_lexicon().units.get(word, ()) if unit.startswith("duration-")]
    return _claim([Reading("rate", unit) for unit in units], match)


_DIGITLESS_READERS = (*_WORD_READERS, (_RATE, _read_rate))


def _date(year: str | None, month: int, day: str | None) -> Iterator[Reading]:
    if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
        full = None if year is None else int(year) + (2000 if len(year) == 2 else 0)
        yield Reading("date", Date(full, month, None if day is None else int(day)))


def _claim(readings: Iterable[Reading], match: re.Match[str]) -> Claim | None:
    present = [*readings]
    return (present, match.end()) if present else None


def _read_iso_date(match: re.Match[str]) -> Claim | None:
    return _claim(_date(match[1], int(match[3]), match[4]), match)


def _read_numeric_date(match: re.Match[str]) -> Claim | None:
    first, second, year = match[1], match[3], match[4]
    readings = [*_date(year, int(second), first)]
    if match[2] != ".":  # with points the day comes first everywhere
        readings += _date(year, int(first), second)
    return _claim(readings, match)


def _read_cjk_date(match: re.Match[str]) -> Claim | None:
    return _claim(_date(match[1], int(match[2]), match[3]), match)


def _read_named_date(match: re.Match[str]) -> Claim | None:
    month = load_lexicon().months.get(match["month"].lower())
    return _claim(_date(match["year"], month, match["day"]), match) if month else None


def _time(minutes: int) -> Reading:
    return Reading("time", Decimal(minutes % 1440))


def _read_time(match: re.Match[str], *, english: bool) -> Claim | None:
    hour, minute = int(match[1]), int(match[2] or match[3])
    if hour > 24 or minute > 59:
        return None
    times = _with_half_of_day(hour * 60 + minute, match[4])
    # An English `4:30` can be in the afternoon, unlike `04:30`.
    if english and not match[4] and 1 <= hour <= 12 and not match[1].startswith("0"):
        times.append(_time(hour * 60 + minute + 720))
    return times, match.end()


def _with_half_of_day(minutes: int, half: str | None) -> list[Reading]:
    if half and half.lower() == "p" and minutes < 720:
        minutes += 720
    elif half and half.lower() == "a" and minutes >= 720:
        minutes -= 720
    return [_time(minutes)]


def _read_hour(match: re.Match[str]) -> Claim | None:
    hour = int(match[1])
    if hour > 24:
        return None
    readings = _with_half_of_day(hour * 60, match[2])
    if match[3]:  # `16 h` is a time of day or a duration
        readings.append(Reading("measure", Decimal(hour), "duration-hour"))
    return readings, match.end()


def _read_cjk_time(match: re.Match[str]) -> Claim | None:
    half = {"午": "", "上": "a", "早": "a", "下": "p", "晚": "p"}.get((match[1] or "午")[0], "")
    half = {"午前": "a", "午後": "p", "오전": "a", "오후": "p"}.get(match[1] or "", half)
    minute = 30 if match[4] else int(match[3] or 0)
    if int(match[2]) > 24 or minute > 59:
        return None
    return _with_half_of_day(int(match[2]) * 60 + minute, half), match.end()


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
        readings.append(_time(int(clock[1]) * 60 + int(clock[2])))
    return readings, match.end()
