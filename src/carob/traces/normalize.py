"""Normalize ids, span kinds, statuses and times, which each exporter writes in its own way."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

from carob.schema import Json
from carob.traces.shape import as_count, as_object, first_value

DROPPED = "otel.dropped_attributes_count"
"""The number of attributes that a span lost to the limit of its SDK, usually 128, as exporters to
formats without a field for it write it."""

Status = Literal["unset", "ok", "error"]

_NEVER = 1 << 63
_HEX = re.compile(r"(?!0+\Z)[0-9a-f]{16}(?:[0-9a-f]{16})?")
_ANY_HEX = re.compile(r"[0-9a-f]+")
_XRAY = re.compile(r"1-([0-9a-f]{8})-([0-9a-f]{24})")
KINDS: dict[int | str, str] = {
    0: "internal",
    1: "internal",
    2: "server",
    3: "client",
    4: "producer",
    5: "consumer",
}
STATUSES: dict[int | str, Status] = {
    0: "unset",
    1: "ok",
    2: "error",
    "1": "ok",
    "ok": "ok",
    "success": "ok",
    "2": "error",
    "error": "error",
    "failed": "error",
    "failure": "error",
}
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?\s*(Z|UTC|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?", re.IGNORECASE
)


def identity(value: Json) -> str:
    """An id as lower-case hex if it is a number, else unchanged; empty if there is none."""
    if isinstance(value, str):
        return text_identity(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return ""
    return format(value, "016x" if value < 1 << 64 else "032x")


@lru_cache(maxsize=8192)
def text_identity(value: str) -> str:
    """The same for an id that is text. Cached, because the ids of parents and traces repeat."""
    if _HEX.fullmatch(value):
        return value
    lower = value.strip().lower().removeprefix("0x")
    if not lower.strip("0"):
        return ""
    if _HEX.fullmatch(lower):
        return lower
    # Digits alone may also be hex, but then there are 16 or 32 of them, as matched above. Any other
    # number of digits is a decimal id, which needs 39 of them for 128 bits.
    if lower.isdecimal() and lower.isascii() and 16 < len(lower) <= 39:
        return identity(int(lower))
    if xray := _XRAY.fullmatch(lower):
        return xray[1] + xray[2]
    return _from_base64(value.strip())


def _from_base64(value: str) -> str:
    if len(value) not in {12, 24} or not value.endswith("="):
        return value
    try:
        raw = base64.b64decode(value, validate=True)
    except binascii.Error:
        return value
    return raw.hex() if raw.strip(b"\0") else ""


def content_digest_id(value: Json) -> str:
    """An id for a trace that has none, derived from its content."""
    return f"trace-{blake2b(repr(value).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def pad_identity(value: Json) -> str:
    """A hex id whose leading zeros a backend dropped; here a number of digits is hex as well."""
    digits = value.lower() if isinstance(value, str) else ""
    if len(digits) > 32 or not digits.strip("0") or not _ANY_HEX.fullmatch(digits):
        return identity(value)
    return digits.zfill(16 if len(digits) <= 16 else 32)


def kind(value: Json) -> str:
    """The span kind as one lower-case word."""
    if type(value) is int:
        return KINDS.get(value, "internal")
    return _kind_from_name(value) if isinstance(value, str) else "internal"


@lru_cache(maxsize=64)
def _kind_from_name(name: str) -> str:
    word = re.split(r"[._]", name.lower())[-1]
    number = int(word) if word in set("012345") else None
    return word if word in KINDS.values() else KINDS.get(number or 0, "internal")


def status(value: Json) -> Status:
    """The status code, from a number, a name, or an object around either."""
    if isinstance(value, dict):
        return status(first_value(value, "code", "status_code", "statusCode", "Code"))
    if isinstance(value, bool) or not isinstance(value, int | str):
        return "unset"
    return STATUSES.get(value) or _status_from_name(str(value))


@lru_cache(maxsize=64)
def _status_from_name(name: str) -> Status:
    return STATUSES.get(re.split(r"[._]", name.lower())[-1], "unset")


def status_message(value: Json) -> str | None:
    """The description beside a status code."""
    message = first_value(
        as_object(value), "message", "description", "status_message", "Description"
    )
    return message if isinstance(message, str) and message else None


def nanoseconds(value: Json) -> int | None:
    """A time in Unix nanoseconds; zero means that it was not recorded."""
    number = as_count(value)
    return number if number and 0 < number < _NEVER else None


def instant(value: Json) -> int | None:
    """A time as Unix nanoseconds, from ISO 8601, `[seconds, nanoseconds]`, or a number in any unit.

    The unit of a number follows from its size: the current time in seconds, milliseconds,
    microseconds and nanoseconds differs by three orders of magnitude each.
    """
    if isinstance(value, str):
        return _parse_instant(value.strip())
    if isinstance(value, list):
        return _from_hrtime(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NEVER:
        return None
    for limit, factor in ((1e11, 10**9), (1e14, 10**6), (1e17, 10**3)):
        if value < limit:
            return _to_nanoseconds(value, factor)
    return int(value)


def _to_nanoseconds(value: float, factor: int) -> int:
    whole = int(value)
    return whole * factor + round((value - whole) * factor)


def _from_hrtime(value: list[Json]) -> int | None:
    """The `hrtime` of JavaScript: seconds and nanoseconds."""
    match value:
        case [int() as seconds, int() as nanos] if 0 <= seconds < 1 << 33 and 0 <= nanos < 10**9:
            return seconds * 10**9 + nanos or None
        case _:
            return None


def _parse_instant(value: str) -> int | None:
    if match := _ISO.fullmatch(value):
        return _from_iso(match)
    try:
        return instant(int(value) if value.isdecimal() and len(value) < 20 else float(value))
    except ValueError:
        return None


def _from_iso(match: re.Match[str]) -> int | None:
    # `datetime` holds microseconds only, so the fraction is added to the seconds afterwards.
    day, clock, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone.upper() in {"Z", "UTC"} else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
    except ValueError:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    return (since.days * 86_400 + since.seconds) * 10**9 + nanos


def period(value: Json) -> int | None:
    """An ISO 8601 duration such as `PT1M48.5S` in nanoseconds."""
    match = _PERIOD.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int((part or "0")[:12]) for part in match.groups()[:4])
    nanos = int((match[5] or "0").ljust(9, "0"))
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**9 + nanos
