"""Find dates and times of day in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache

from carob.text.facts.lexicon import has_packages, load_lexicon
from carob.text.facts.numerals import END, LETTER, START
from carob.text.facts.quantities import Claim, Date, Reader, Reading

_FRACTION = re.compile(rf"{START}(\d{{1,2}})/(\d{{1,2}}){END}")
_ISO_DATE = re.compile(rf"{START}(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:T[\d:.Z+-]*)?{END}")
_NUMERIC_DATE = re.compile(rf"{START}(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){END}")
_SHORT_DATE = re.compile(rf"{START}(\d{{1,2}})\.(\d{{1,2}})\.(?!\d)")  # `am 12.03.`
_MONTH_AND_YEAR = re.compile(rf"{START}(\d{{1,2}})/(\d{{4}}){END}")
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
    rf"(?<![{LETTER}.,:/])(\d{{1,2}})"
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
NOON = re.compile(rf"\b(?:12\s)?({'|'.join(_NOON)})\b", re.IGNORECASE)


@lru_cache(maxsize=64)
def date_readers(language: str, *, is_ascii: bool) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """Return the patterns of dates and times, in the order in which they are tried."""
    english = language in ("en", "")
    return (
        (_ISO_DATE, _read_iso_date),
        (_NUMERIC_DATE, _read_numeric_date),
        (_SHORT_DATE, _read_short_date),
        (_MONTH_AND_YEAR, _read_month_and_year),
        (_FRACTION, _read_fraction),
        *(() if is_ascii else ((_CJK_DATE, _read_cjk_date),)),
        *((pattern, _read_named_date) for pattern in _NAMED_DATES if has_packages()),
        (_TIME, lambda match: _read_time(match, english=english)),
        (_HOUR, _read_hour),
        *(() if is_ascii else ((_CJK_TIME, _read_cjk_time),)),
    )


def read_noon(match: re.Match[str]) -> Claim:
    """Read `noon` and `midnight`, in several languages."""
    return [time_of_day(_NOON[match[1].lower()])], match.end()


def _date(year: str | None, month: int, day: str | None) -> Iterator[Reading]:
    if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
        full = None if year is None else int(year) + (2000 if len(year) == 2 else 0)
        yield Reading("date", Date(full, month, None if day is None else int(day)))


def claim_readings(readings: Iterable[Reading], match: re.Match[str]) -> Claim | None:
    """Claim the whole match, if there is a reading."""
    present = [*readings]
    return (present, match.end()) if present else None


def _read_iso_date(match: re.Match[str]) -> Claim | None:
    return claim_readings(_date(match[1], int(match[3]), match[4]), match)


def _read_numeric_date(match: re.Match[str]) -> Claim | None:
    first, second, year = match[1], match[3], match[4]
    readings = [*_date(year, int(second), first)]
    if match[2] != ".":  # with points the day comes first everywhere
        readings += _date(year, int(first), second)
    return claim_readings(readings, match)


def _read_short_date(match: re.Match[str]) -> Claim | None:
    readings = [*_date(None, int(match[2]), match[1])]
    if not readings:
        return None
    # At the end of a sentence it may be a number.
    number = Reading("number", Decimal(f"{match[1]}.{match[2]}"))
    return [*readings, number], match.end() - 1


def _read_month_and_year(match: re.Match[str]) -> Claim | None:
    return claim_readings(_date(match[2], int(match[1]), None), match)


def _read_cjk_date(match: re.Match[str]) -> Claim | None:
    return claim_readings(_date(match[1], int(match[2]), match[3]), match)


def _read_named_date(match: re.Match[str]) -> Claim | None:
    month = load_lexicon().months.get(match["month"].lower())
    return claim_readings(_date(match["year"], month, match["day"]), match) if month else None


def time_of_day(minutes: int) -> Reading:
    """Return the reading for a number of minutes since midnight."""
    return Reading("time", Decimal(minutes % 1440))


def _read_time(match: re.Match[str], *, english: bool) -> Claim | None:
    hour, minute = int(match[1]), int(match[2] or match[3])
    if hour > 24 or minute > 59:
        return None
    times = _with_half_of_day(hour * 60 + minute, match[4])
    # An English `4:30` can be in the afternoon, unlike `04:30`.
    if english and not match[4] and 1 <= hour <= 12 and not match[1].startswith("0"):
        times.append(time_of_day(hour * 60 + minute + 720))
    return times, match.end()


def _with_half_of_day(minutes: int, half: str | None) -> list[Reading]:
    if half and half.lower() == "p" and minutes < 720:
        minutes += 720
    elif half and half.lower() == "a" and minutes >= 720:
        minutes -= 720
    return [time_of_day(minutes)]


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


def _read_fraction(match: re.Match[str]) -> Claim | None:
    first, second = int(match[1]), int(match[2])
    readings = [*_date(None, second, match[1]), *_date(None, first, match[2])]
    if second:
        readings.append(Reading("number", Decimal(first) / Decimal(second)))
    return claim_readings(readings, match)
