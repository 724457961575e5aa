"""What an HTTP status and the body of an error mean: may it pass, and what to tell the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from karat.judges.model import RefusedError, Trouble
from karat.judges.models.allowance import retry_after
from karat.judges.models.keys import Keys
from karat.schema import Json

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


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """The body of an error, in whichever of the usual shapes."""

    message: str = ""
    param: str = ""
    codes: frozenset[str] = frozenset()


def complaint(body: bytes) -> Complaint:
    """What can be understood of it; nothing, if it is not JSON."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return Complaint()
    if not isinstance(found, dict):
        return Complaint()
    inner = found.get("error", found)
    if not isinstance(inner, dict):
        return Complaint(message=str(inner))
    return Complaint(
        message=_text(inner.get("message") or inner.get("detail") or inner.get("msg")),
        param=_text(inner.get("param")),
        codes=frozenset(_text(inner.get(key)) for key in ("code", "type", "status")),
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
    kind = trouble(status, said.codes)
    message = keys.hide(said.message)
    if status == 401:
        return RefusedError("denied", f"{name} refused {key} (HTTP 401)")
    if said.codes.intersection(_TOO_LONG):
        return RefusedError("rejected", f"the prompt is too long for {name}: {short(message)}")
    told = f": {short(message)}" if message else ""
    return RefusedError(
        kind, f"{name} answered HTTP {status}{told}", retry_after=retry_after(headers)
    )


def short(text: str) -> str:
    """Foreign text as part of a message."""
    text = " ".join(text.split())
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
