"""Who may ask this server: the checks before every request, and the headers of every response.

A server on loopback trusts its machine, but not the browser on it: any web page can send requests
to 127.0.0.1. So the `Host` must be ours, against names that are rebound to this address, and a
request that changes something must come from our own pages or from no page at all.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie
from typing import TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from carob.server.problems import RequestError, problem_response

Roles: TypeAlias = frozenset[str]
FindRoles: TypeAlias = Callable[[str], Roles]
"""Returns what a token allows; nothing for an unknown one."""
ALL_ROLES: Roles = frozenset(("read", "write", "ingest"))
SESSION_COOKIE = "carob_session"
form_token: ContextVar[str] = ContextVar("form_token", default="")
"""What forms of this request's pages carry, so that no other page can make one."""
_SESSION_SECONDS = 12 * 3600
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_FROM_US = frozenset(("same-origin", "none"))
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class LoginSessions:
    """Browsers that have logged in with a token, for half a day. What they may do is looked up
    with each request: a token that was removed must not live on in a cookie."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}

    def start(self, token: str) -> str:
        """Start a session and return its id, the value of the cookie."""
        self._drop_expired()
        session = secrets.token_urlsafe(32)
        self._tokens[session] = (token, time.monotonic() + _SESSION_SECONDS)
        return session

    def token(self, session: str) -> str | None:
        """Return the token of a session; `None` for an unknown one."""
        # A dictionary finds keys in a time that depends on their hash, not on how far two ids
        # agree, so that nobody can guess an id character by character.
        token, end = self._tokens.get(session, (None, 0.0))
        return token if time.monotonic() < end else None

    def end(self, session: str) -> None:
        """End a session."""
        self._tokens.pop(session, None)

    def _drop_expired(self) -> None:
        now = time.monotonic()
        self._tokens = {key: value for key, value in self._tokens.items() if value[1] > now}


class HostNames:
    """The `Host` headers that mean this server."""

    def __init__(
        self, exact: Iterable[str], names: Iterable[str] = (), *, any_address: bool = False
    ) -> None:
        self._exact = frozenset(exact)
        """Names with their port."""
        self._names = frozenset(name.lower() for name in names)
        """Names that are right with any port: a proxy passes on the one that it listens on."""
        self._any_address = any_address
        """Whether IP addresses are right, too. No name can be rebound to look like one, and a
        server that listens on all addresses does not know which of them others use."""

    def __contains__(self, host: str) -> bool:
        host = host.lower()
        name = _without_port(host)
        if host in self._exact or name in self._names:
            return True
        return self._any_address and _is_address(name)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class SecurityMiddleware:
    """Refuses foreign hosts and pages, finds the roles of the caller, and sets the headers."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: HostNames,
        find_roles: FindRoles | None,
        sessions: LoginSessions,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._secret = secrets.token_bytes(32)
        self._find_roles = find_roles
        """`None` on loopback, where everyone may do everything."""
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            _check_origin(scope, headers)
            session = "" if "authorization" in headers else session_id(headers) or ""
            if session:
                _check_own_page(scope, headers)
            scope.setdefault("state", {})["roles"] = self._roles(headers, session)
        except RequestError as error:
            await problem_response(error)(scope, receive, _with_headers(send))
            return
        form_token.set(hmac.new(self._secret, session.encode(), "sha256").hexdigest())
        await self._app(scope, receive, _with_headers(send))

    def _check_host(self, headers: Headers) -> None:
        names = headers.getlist("host")
        if len(names) > 1:  # whoever is in front of us may have looked at the other one
            raise RequestError(400, f"{len(names)} Host headers, expected one")
        host = names[0].lower() if names else ""
        if host not in self._hosts:
            hint = "name it with `carob serve --allow-host` if it is yours"
            raise RequestError(421, f"this server is not {host!r}", hint=hint)

    def _roles(self, headers: Headers, session: str) -> Roles:
        if self._find_roles is None:
            return ALL_ROLES
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and token:
            return self._find_roles(token.strip())
        own = self._sessions.token(session)
        return self._find_roles(own) if own else frozenset()


def session_id(headers: Headers) -> str | None:
    """Return the id of the browser's session."""
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[SESSION_COOKIE].value if SESSION_COOKIE in cookies else None


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Refuse what a page of somebody else asks a browser to send."""
    if scope["method"] in _SAFE:
        return
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _FROM_US:
        raise RequestError(403, f"refused a request from another site ({site})")
    origin = headers.get("origin")
    if origin == "null" and site == "same-origin":
        return  # a form of our own pages: browsers hide the origin because of `no-referrer`
    if origin is not None and origin.lower() not in _own_origins(headers.get("host", "")):
        raise RequestError(403, f"refused a request from {origin!r}")


def _check_own_page(scope: Scope, headers: Headers) -> None:
    """Refuse what a cookie alone would allow: a browser that sends one also says where a request
    comes from, and `_check_origin` has looked at what it says."""
    if scope["method"] in _SAFE or "origin" in headers or "sec-fetch-site" in headers:
        return
    raise RequestError(403, "refused a request that does not say which page it comes from")


def check_form_token(value: str) -> None:
    """Raise `RequestError` unless a form comes from a page of this server and login."""
    if not hmac.compare_digest(value.encode(), form_token.get().encode()):
        hint = "load the page again, then repeat the change"
        raise RequestError(403, "the form is outdated", hint=hint)


def _own_origins(host: str) -> tuple[str, str]:
    return f"http://{host.lower()}", f"https://{host.lower()}"


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers
