"""Turn HTTP errors of providers into `ProviderError`, and missing packages into `UsageError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

import msgspec

from carob.errors import UsageError, install_hint
from carob.judges.model import ErrorKind, ProviderError
from carob.judges.providers.rate_limits import parse_seconds, read_retry_after
from carob.judges.providers.redaction import Redactor
from carob.schema import Json

_KINDS: dict[int, ErrorKind] = {
    401: "denied",
    402: "denied",
    403: "denied",
    408: "timeout",
    409: "overloaded",
    425: "overloaded",
    429: "rate_limit",
    504: "timeout",
}
_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error")
_MAX_QUOTED = 300  # characters of foreign text in a message
_MAX_PARSED = 4000  # characters of each field that are looked at


@dataclass(frozen=True, kw_only=True)
class ErrorBody:
    """The body of an error response, in any of the common shapes."""

    message: str = ""
    param: str = ""
    codes: frozenset[str] = frozenset()
    retry_after: float | None = None
    """Seconds, if the body states them instead of the headers."""


def parse_error(body: bytes) -> ErrorBody:
    """Decode the body of an error response; empty if it is not JSON."""
    try:
        return read_error(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorBody()


def read_error(value: Json) -> ErrorBody:
    """Read an error body that is already decoded."""
    if isinstance(value, list):  # Google wraps errors in a list
        value = value[0] if value else None
    if not isinstance(value, dict):
        return ErrorBody()
    error = value.get("error", value)
    if not isinstance(error, dict):
        return ErrorBody(message=_text(error))
    return ErrorBody(
        message=_text(error.get("message") or error.get("detail") or error.get("msg")),
        param=_text(error.get("param")),
        codes=frozenset(_text(error.get(key)) for key in ("code", "type", "status")),
        retry_after=_retry_delay(error.get("details")),
    )


def error_kind(status: int, codes: frozenset[str] = frozenset()) -> ErrorKind:
    """Classify an HTTP status. An exhausted quota is also a 429, but waiting does not help."""
    if status == 429 and codes.intersection(_QUOTA_CODES):
        return "denied"
    return _KINDS.get(status, "overloaded" if status >= 500 else "rejected")


def http_error(
    name: str,
    status: int,
    error: ErrorBody,
    *,
    headers: Mapping[str, str],
    redactor: Redactor,
    key: str,
) -> ProviderError:
    """Build the error for an HTTP status. For a 401 the provider's own message is dropped, since it
    may quote the key."""
    message = redactor.redact(error.message)
    detail = f": {quote(message)}" if message else ""
    if 300 <= status < 400:
        message = f"{name} returned a redirect (HTTP {status}), which is not followed"
        return ProviderError("rejected", f"{message}: configure the final URL")
    if status == 401:
        return ProviderError("denied", f"{name} refused {key} (HTTP 401)")
    if error.codes.intersection(_TOO_LONG_CODES):
        return ProviderError("rejected", f"the prompt is too long for {name}{detail}")
    wait = read_retry_after(headers)
    return ProviderError(
        error_kind(status, error.codes),
        f"{name} returned HTTP {status}{detail}",
        retry_after=error.retry_after if wait is None else wait,
    )


def quote(text: str) -> str:
    """Quote foreign text on one line, shortened."""
    text = " ".join(text.split())
    return repr(text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…")


def require_package(module: str, *, extra: str) -> None:
    """Raise `UsageError` with an install hint if an optional package cannot be imported."""
    try:
        import_module(module)
    except ImportError as error:
        missing = isinstance(error.__cause__ or error, ModuleNotFoundError)
        problem = "is not installed" if missing else f"cannot be imported: {error}"
        raise UsageError(
            f"a package required by this judge {problem}", hint=install_hint(extra)
        ) from error


def _text(value: Json) -> str:
    if value is None:
        return ""
    return (value if isinstance(value, str) else msgspec.json.encode(value).decode())[:_MAX_PARSED]


def _retry_delay(details: Json) -> float | None:
    """Read Google's `{"@type": "….RetryInfo", "retryDelay": "34s"}`."""
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return parse_seconds(_text(detail["retryDelay"]))
    return None
