"""What the headers of a reply tell of limits: how much is left, and how long to wait."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from carob.judges.model import Allowance

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_STYLES = (
    "x-ratelimit-{part}-{what}",
    "anthropic-ratelimit-{what}-{part}",
)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider wants us to wait, however it says so."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return seconds(headers.get("retry-after"))


def seconds(text: str | None) -> float | None:
    """`20`, `6m0s`, `120ms`, or a date of HTTP or RFC 3339."""
    if text is None or len(text) > 64:
        return None
    ways = (way(text.strip()) for way in (_number, _duration, _until))
    return next((found for found in ways if found is not None), None)


def allowance(headers: Mapping[str, str]) -> Allowance | None:
    """What is left, or `None` where the provider does not tell."""
    requests, tokens = _limit(headers, "requests"), _limit(headers, "tokens")
    if requests.left is None and tokens.left is None:
        return None
    return Allowance(requests=requests.left, tokens=tokens.left, reset=_reset(requests, tokens))


@dataclass(frozen=True, kw_only=True)
class _Limit:
    left: int | None
    share: float | None
    reset: float | None


def _limit(headers: Mapping[str, str], what: str) -> _Limit:
    for style in _STYLES:
        left = _number(headers.get(style.format(part="remaining", what=what)))
        if left is not None:
            whole = _number(headers.get(style.format(part="limit", what=what)))
            reset = seconds(headers.get(style.format(part="reset", what=what)))
            return _Limit(left=int(left), share=left / whole if whole else None, reset=reset)
    return _Limit(left=None, share=None, reset=None)


def _reset(*limits: _Limit) -> float | None:
    """Of two limits the one that is nearer counts: the other may be far off, and take long."""
    told = [one for one in limits if one.reset is not None]
    if told and all(one.share is not None for one in told):
        return min(told, key=lambda one: one.share or 0).reset
    return max((one.reset for one in told if one.reset is not None), default=None)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _duration(text: str) -> float | None:
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _until(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - time.time())
