"""Read the rate limit headers of providers: the remaining quota, and how long to wait."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from carob.judges.model import RateLimit

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_HEADER_STYLES = (
    "x-ratelimit-{field}-{quota}",
    "anthropic-ratelimit-{quota}-{field}",
)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait before a retry, from any of the usual headers."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return parse_seconds(headers.get("retry-after"))


def parse_seconds(text: str | None) -> float | None:
    """Parse `20`, `6m0s`, `120ms`, or an HTTP or RFC 3339 date."""
    if text is None or len(text) > 64:
        return None
    parsed = (parse(text.strip()) for parse in (_number, _duration, _until))
    return next((seconds for seconds in parsed if seconds is not None), None)


def read_rate_limit(headers: Mapping[str, str]) -> RateLimit | None:
    """Return the remaining quota, or `None` if the provider does not report it."""
    requests, tokens = _quota(headers, "requests"), _quota(headers, "tokens")
    if requests.remaining is None and tokens.remaining is None:
        return None
    return RateLimit(
        requests=requests.remaining, tokens=tokens.remaining, reset=_reset(requests, tokens)
    )


@dataclass(frozen=True, kw_only=True)
class _Quota:
    remaining: int | None
    share: float | None
    reset: float | None


def _quota(headers: Mapping[str, str], quota: str) -> _Quota:
    for style in _HEADER_STYLES:
        remaining = _number(headers.get(style.format(field="remaining", quota=quota)))
        if remaining is not None:
            limit = _number(headers.get(style.format(field="limit", quota=quota)))
            reset = parse_seconds(headers.get(style.format(field="reset", quota=quota)))
            share = remaining / limit if limit else None
            return _Quota(remaining=int(remaining), share=share, reset=reset)
    return _Quota(remaining=None, share=None, reset=None)


def _reset(*quotas: _Quota) -> float | None:
    # The quota that is closer to exhaustion counts: a token quota that is 90 % full may take 50 s
    # to reset without being a reason to wait.
    with_reset = [quota for quota in quotas if quota.reset is not None]
    if with_reset and all(quota.share is not None for quota in with_reset):
        return min(with_reset, key=lambda quota: quota.share or 0).reset
    return max((quota.reset for quota in with_reset if quota.reset is not None), default=None)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _duration(text: str) -> float | None:
    parts = _DURATION_PART.findall(text)
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
