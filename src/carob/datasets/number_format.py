"""The text that Excel shows for a cell: `0.5` with the format `0%` is `50%`.

Covers the formats that people choose: digits, thousands, percent, currencies, dates and times. A
number in another format, such as a fraction, is shown as in the format `General`.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

_GENERAL_WIDTH = 11
"""Characters of a number in the format `General`, including the decimal point."""
_LOCAL_DATE = "mm-dd-yy"
"""Excel shows this format as the date of the user's country, so it has no text of its own."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_(.)|\*(.)')
_DIGITS = re.compile(r"(?P<whole>[#0?,]*[#0?]|)(?:\.(?P<fraction>[#0?]*))?(?P<scale>,*)")
_DATE_PART = re.compile(r"\[h+\]|y+|m+|d+|h+|s+|AM/PM|A/P|\.0+", re.IGNORECASE)

_DATE_TOKEN = re.compile(rf"{_LITERAL.pattern}|(?P<part>{_DATE_PART.pattern})", re.IGNORECASE)


def cell_text(value: object, code: str) -> str:
    """The text of a cell with a value and a number format."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return _number_text(value, code)
        case datetime() | date() | time() | timedelta():
            return _date_text(value, code)
        case _:
            return str(value)


def _general(value: float) -> str:
    """As many digits as fit into a column; whole numbers in full, because they may be ids."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    for digits in range(_GENERAL_WIDTH - 1, 0, -1):
        text = f"{value:.{digits}g}".upper()
        if len(text.lstrip("-")) <= _GENERAL_WIDTH:
            return text
    return str(value)


def _number_text(value: float, code: str) -> str:
    section, value, sign = _choose_section(value, code)
    text = _LITERAL.sub(lambda match: "\0" * len(match[0]), section)
    digits = next((match for match in _DIGITS.finditer(text) if match[0].strip(",.")), None)
    if section and not text.strip("\0"):
        return _show_literals(section)  # such as "none" for zero
    before, after = (text[: digits.start()], text[digits.end() :]) if digits else (text, "")
    if digits is None or re.search(r"[^\0%$€£¥ ()+:-]", before + after):
        return _general(value if not sign else -value)
    number = _format_digits(Decimal(repr(value)) * 100 ** text.count("%"), digits)
    start = _show_literals(section[: digits.start()])
    return sign + start + number + _show_literals(section[digits.end() :])


def _choose_section(value: float, code: str) -> tuple[str, float, str]:
    """The part of a format for positive, negative or zero numbers, the number, and its sign."""
    sections = code.split(";")
    if value < 0 and len(sections) > 1 and sections[1]:
        return sections[1], -value, ""
    if value == 0 and len(sections) > 2 and sections[2]:
        return sections[2], value, ""
    return (sections[0], -value, "-") if value < 0 else (sections[0], value, "")


def _format_digits(number: Decimal, digits: re.Match[str]) -> str:
    whole, fraction = digits["whole"], digits["fraction"] or ""
    number /= 1000 ** len(digits["scale"])
    number = number.quantize(Decimal(1).scaleb(-len(fraction)), ROUND_HALF_UP)
    text = f"{number:,f}" if "," in whole else f"{number:f}"
    head, _, tail = text.partition(".")
    while tail and len(tail) > fraction.count("0") and tail.endswith("0"):
        tail = tail[:-1]
    head = head.rjust(whole.count("0"), "0")
    return f"{head}.{tail}" if tail else head


def _show_literals(text: str) -> str:
    """The literal part of a format, without what only aligns cells: `_)` and `* `."""
    return _LITERAL.sub(lambda match: match[1] or match[2] or match[3] or "", text)


def _date_text(value: datetime | date | time | timedelta, code: str) -> str:
    code = code.split(";")[0]
    if isinstance(value, timedelta):
        minutes, seconds = divmod(int(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, time):
        value = datetime.combine(date(1900, 1, 1), value)
    elif not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if code == _LOCAL_DATE or not _DATE_PART.search(code):
        return value.date().isoformat()
    plain = re.sub(r"\[\$-[^\]]*\]", "", code)
    parts: list[str] = []
    position, is_time = 0, False
    for match in _DATE_TOKEN.finditer(plain):
        part = match["part"]
        parts.append(plain[position : match.start()])
        position = match.end()
        follows_seconds = bool(re.match(r"[^a-z]*s", plain[position:], re.IGNORECASE))
        is_minutes = part is not None and part[0] in "mM" and (is_time or follows_seconds)
        parts.append(
            _date_part(value, part.lower(), is_minutes, "am/pm" in plain.lower())
            if part
            else _show_literals(match[0])
        )
        if part:
            is_time = part[0] in "hH["
    parts.append(plain[position:])
    return "".join(parts)


def _date_part(value: datetime, part: str, is_minutes: bool, is_twelve: bool) -> str:
    if part in ("am/pm", "a/p"):
        return "AM" if value.hour < 12 else "PM"
    if part[0] in "[h":
        hour = (value.hour % 12 or 12) if is_twelve else value.hour
        return f"{hour:02}" if part == "hh" else str(hour)
    if part[0] == ".":
        return f".{value.microsecond:06}"[: len(part)]
    number = {"y": value.year, "d": value.day, "s": value.second}.get(part[0], value.month)
    if is_minutes:
        number = value.minute
    elif part[0] == "y":
        return f"{number:04}" if len(part) > 2 else f"{number % 100:02}"
    elif len(part) > 2 and part[0] in "md":
        name = _MONTHS[value.month - 1] if part[0] == "m" else _DAYS[value.weekday()]
        return name if len(part) == 4 else name[:3]
    return f"{number:02}" if len(part) > 1 else str(number)
