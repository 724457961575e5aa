"""Ids, kinds, statuses and times: the many spellings, one meaning."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

from carob.schema import Json
from carob.traces.shape import count, first, table

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
    """An id as lower-case hex where it is one, else as it is; empty if there is none."""
    if isinstance(value, str):
        return spelled_identity(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return ""
    return format(value, "016x" if value < 1 << 64 else "032x")


@lru_cache(maxsize=8192)
def spelled_identity(value: str) -> str:
    """The same for an id that is known to be text; the ids of parents and traces come again."""
    if _HEX.fullmatch(value):
        return value
    lower = value.strip().lower().removeprefix("0x")
    if not lower.strip("0"):
        return ""
    if _HEX.fullmatch(lower):
        return lower
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


def derived_id(value: Json) -> str:
    """The id of a recording that has none: the same content, the same id."""
    return f"trace-{blake2b(repr(value).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def padded(value: Json) -> str:
    """An id in hex of which a backend dropped the leading zeros; digits alone are hex here too."""
    found = value.lower() if isinstance(value, str) else ""
    if len(found) > 32 or not found.strip("0") or not _ANY_HEX.fullmatch(found):
        return identity(value)
    return found.zfill(16 if len(found) <= 16 else 32)


def kind(value: Json) -> str:
    """The span kind in one lower-case word."""
    if type(value) is int:
        return KINDS.get(value, "internal")
    return _kind_named(value) if isinstance(value, str) else "internal"


@lru_cache(maxsize=64)
def _kind_named(name: str) -> str:
    word = re.split(r"[._]", name.lower())[-1]
    number = int(word) if word in set("012345") else None
    return word if word in KINDS.values() else KINDS.get(number or 0, "internal")


def status(value: Json) -> Status:
    """The status code, whether it came as a number, a name or an object around either."""
    if isinstance(value, dict):
        return status(first(value, "code", "status_code", "statusCode", "Code"))
    if isinstance(value, bool) or not isinstance(value, int | str):
        return "unset"
    return STATUSES.get(value) or _status_named(str(value))


@lru_cache(maxsize=64)
def _status_named(name: str) -> Status:
    return STATUSES.get(re.split(r"[._]", name.lower())[-1], "unset")


def status_message(value: Json) -> str | None:
    """The description beside a status code."""
    found = first(table(value), "message", "description", "status_message", "Description")
    return found if isinstance(found, str) and found else None


def nanoseconds(value: Json) -> int | None:
    """A time that is known to be in Unix nanoseconds; 0 is "not recorded"."""
    found = count(value)
    return found if found and 0 < found < _NEVER else None


def instant(value: Json) -> int | None:
    """A time in any notation as Unix nanoseconds: ISO-8601, [s, ns], or a number of whatever unit.

    The unit of a number shows in its size: seconds, milli-, micro- and nanoseconds of our time are
    three orders of magnitude apart.
    """
    if isinstance(value, str):
        return _instant_text(value.strip())
    if isinstance(value, list):
        return _instant_pair(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NEVER:
        return None
    for limit, factor in ((1e11, 10**9), (1e14, 10**6), (1e17, 10**3)):
        if value < limit:
            return _scaled(value, factor)
    return int(value)


def _scaled(value: float, factor: int) -> int:
    whole = int(value)
    return whole * factor + round((value - whole) * factor)


def _instant_pair(value: list[Json]) -> int | None:
    """JavaScript's high-resolution time: seconds and nanoseconds."""
    match value:
        case [int() as seconds, int() as nanos] if 0 <= seconds < 1 << 33 and 0 <= nanos < 10**9:
            return seconds * 10**9 + nanos or None
        case _:
            return None


def _instant_text(value: str) -> int | None:
    if found := _ISO.fullmatch(value):
        return _iso(found)
    try:
        return instant(int(value) if value.isdecimal() and len(value) < 20 else float(value))
    except ValueError:
        return None


def _iso(found: re.Match[str]) -> int | None:
    day, clock, fraction, zone = found.groups()
    offset = "+00:00" if zone is None or zone.upper() in {"Z", "UTC"} else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
    except ValueError:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    return (since.days * 86_400 + since.seconds) * 10**9 + nanos


def period(value: Json) -> int | None:
    """An ISO-8601 duration such as `PT1M48.5S` in nanoseconds."""
    found = _PERIOD.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (int((part or "0")[:12]) for part in found.groups()[:4])
    nanos = int((found[5] or "0").ljust(9, "0"))
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**9 + nanos
