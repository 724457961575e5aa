"""What an HTTP status and the body of an error mean: may it pass, and what to tell the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from carob.judges.model import RefusedError, Trouble
from carob.judges.providers.allowance import retry_after, seconds
from carob.judges.providers.keys import Keys
from carob.schema import Json

_TROUBLES: dict[int, Trouble] = {
    401: "denied",
    402: "denied",
    403: "denied",
    408: "timeout",
    409: "overloaded",
    425: "overloaded",
    429: "rate_limit",
    504: "timeout",
}
_SPENT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")
_LONGEST = 300  # characters of what the provider said
_MOST = 4000  # characters of it that anybody looks at


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """The body of an error, in whichever of the usual shapes."""

    message: str = ""
    param: str = ""
    codes: frozenset[str] = frozenset()
    wait: float | None = None
    """Seconds, where the body says so and not the headers."""


def complaint(body: bytes) -> Complaint:
    """What can be understood of it; nothing, if it is not JSON."""
    try:
        return understood(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError):
        return Complaint()


def understood(found: Json) -> Complaint:
    """The same for JSON that was decoded already."""
    if isinstance(found, list):  # Google wraps errors so
        found = found[0] if found else None
    if not isinstance(found, dict):
        return Complaint()
    inner = found.get("error", found)
    if not isinstance(inner, dict):
        return Complaint(message=_text(inner))
    return Complaint(
        message=_text(inner.get("message") or inner.get("detail") or inner.get("msg")),
        param=_text(inner.get("param")),
        codes=frozenset(_text(inner.get(key)) for key in ("code", "type", "status")),
        wait=_wait(inner.get("details")),
    )


def trouble(status: int, codes: frozenset[str] = frozenset()) -> Trouble:
    """The kind of trouble that a status is."""
    if status == 429 and codes.intersection(_SPENT):
        return "denied"
    return _TROUBLES.get(status, "overloaded" if status >= 500 else "rejected")


def refusal(
    name: str, status: int, said: Complaint, *, headers: Mapping[str, str], keys: Keys, key: str
) -> RefusedError:
    """The error for an HTTP status. What a provider says to a wrong key is not repeated: it may
    have the key in it."""
    message = keys.hide(said.message)
    told = f": {short(message)}" if message else ""
    if 300 <= status < 400:
        message = f"{name} redirects (HTTP {status}), which is not followed"
        return RefusedError("rejected", f"{message}: give the address that it really has")
    if status == 401:
        return RefusedError("denied", f"{name} refused {key} (HTTP 401)")
    if said.codes.intersection(_TOO_LONG):
        return RefusedError("rejected", f"the prompt is too long for {name}{told}")
    wait = retry_after(headers)
    return RefusedError(
        trouble(status, said.codes),
        f"{name} answered HTTP {status}{told}",
        retry_after=said.wait if wait is None else wait,
    )


def short(text: str) -> str:
    """Foreign text as part of a message."""
    text = " ".join(text.split())
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _text(value: Json) -> str:
    if value is None:
        return ""
    return (value if isinstance(value, str) else msgspec.json.encode(value).decode())[:_MOST]


def _wait(details: Json) -> float | None:
    """As Google says it: `{"@type": "….RetryInfo", "retryDelay": "34s"}`."""
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and isinstance(one.get("retryDelay"), str):
            return seconds(_text(one["retryDelay"]))
    return None
