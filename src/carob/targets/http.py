"""Requests to agents over HTTP: one request, sent once, and its answer or a `TargetError`."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from carob.errors import UsageError, require_packages
from carob.judges.providers.endpoint import find_proxy, on_loopback, read_key
from carob.judges.providers.rate_limits import read_retry_after
from carob.judges.providers.redaction import Redactor
from carob.schema import Json, TargetSettings
from carob.targets.target import TargetError

if TYPE_CHECKING:
    import aiohttp

_MAX_BODY = 64 * 2**20
_MAX_QUOTED = 300
_MIN_SECRET = 6
"""Characters of a header value that is looked for in answers. A shorter one is not a key, and would
remove parts of words."""


def check_address(url: str, where: str) -> str:
    """Return a URL without a trailing slash. Raises `UsageError` if it is not a plain HTTP URL."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.username is not None or parts.password is not None:
        hint = "name an environment variable with --target-key-env or --target-header"
        raise UsageError("the URL must not contain credentials", where=where, hint=hint)
    if parts.scheme not in ("http", "https") or not host or any(sign <= " " for sign in url):
        raise UsageError(f"expected an http or https URL, got {url!r}", where=where)
    return url.rstrip("/")


class Received(NamedTuple):
    """A JSON answer, and when its first byte arrived."""

    value: Json
    status: int
    first_byte: int
    """Unix time in nanoseconds."""


class HttpClient:
    """Sends requests to one agent. Nothing is retried here: only the caller knows what is safe."""

    def __init__(self, settings: TargetSettings, *, key_optional: bool = True) -> None:
        require_packages("a live agent over HTTP", "aiohttp", extra="live")
        headers = {name: read_key(variable, name) for name, variable in settings.headers.items()}
        if settings.key_env is not None:
            headers["Authorization"] = f"Bearer {read_key(settings.key_env, settings.name)}"
        elif not key_optional:
            hint = "name its environment variable with --target-key-env"
            raise UsageError("missing API key", where=settings.name, hint=hint)
        self._headers = headers
        values = (value.removeprefix("Bearer ") for value in headers.values())
        self._secrets = [value.encode() for value in values if len(value) >= _MIN_SECRET]
        self._redactor = Redactor(*headers.values())
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def request(
        self,
        method: str,
        url: str,
        body: Json = None,
        *,
        headers: Mapping[str, str] | None = None,
        accept: tuple[int, ...] = (),
    ) -> Received:
        """Send a request and return its JSON answer. Raises `TargetError` for an error status that
        is not among those to `accept`."""
        async with self._open(method, url, body, headers) as response:
            first = time.time_ns()
            data = self._scrub(await self._read(response))
            self._check(response, data, accept)
            return Received(self._decode(data, response), response.status, first)

    @asynccontextmanager
    async def stream(
        self, url: str, body: Json, *, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[AsyncIterator[SseEvent]]:
        """Send a request and yield the server-sent events of its answer as they arrive."""
        wanted = {"Accept": "text/event-stream", **(headers or {})}
        async with self._open("POST", url, body, wanted) as response:
            if response.status >= 300:
                self._check(response, await self._read(response), ())
            if response.content_type != "text/event-stream":
                # Such as the login page of a proxy, or an error as JSON: an answer without a word
                # would be scored as if the agent had said nothing.
                detail = self._describe(self._scrub(await self._read(response)))
                message = f"expected server-sent events, got {response.content_type}: {detail}"
                raise TargetError("protocol", message)
            yield self._events(response)

    async def _events(self, response: aiohttp.ClientResponse) -> AsyncIterator[SseEvent]:
        import aiohttp  # late, as everywhere here: an optional package

        parser, size = _SseParser(), 0
        try:
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > _MAX_BODY:  # it may go on for ever
                    raise TargetError("protocol", f"the answer is larger than {_MAX_BODY >> 20} MB")
                for event in parser.feed(chunk):
                    yield self._scrub_event(event)
        except (aiohttp.ClientError, OSError) as error:
            raise self._broken_off(error) from None
        for event in parser.feed(b"\n\n"):
            yield self._scrub_event(event)

    @asynccontextmanager
    async def _open(
        self, method: str, url: str, body: Json, headers: Mapping[str, str] | None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        import aiohttp

        sent = dict(headers or {})
        data = None
        if body is not None:
            data = msgspec.json.encode(body)
            sent.setdefault("Content-Type", "application/json")
        proxy = None if on_loopback(url) else find_proxy(url)
        failure: TargetError | None = None
        try:
            async with self._ensure_session().request(
                method,
                url,
                data=data,
                headers=sent,
                proxy=proxy.url if proxy else None,
                allow_redirects=False,
            ) as response:
                yield response
        except aiohttp.ClientConnectorError as error:
            message = f"cannot be reached: {self._redactor.redact(str(error))}"
            failure = TargetError("connection", message, reached=False)
        except (aiohttp.ClientError, OSError) as error:
            failure = self._broken_off(error)
        # Raised outside of the handler: the errors of aiohttp carry the headers, and so the key.
        if failure:
            raise failure

    def _broken_off(self, error: Exception) -> TargetError:
        return TargetError("connection", f"the connection broke off: {type(error).__name__}")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > _MAX_BODY:
                raise TargetError("protocol", f"the answer is larger than {_MAX_BODY >> 20} MB")
        return bytes(content)

    def _scrub(self, data: bytes) -> bytes:
        """Remove the keys that were sent: an agent may repeat them in its answer."""
        for secret in self._secrets:
            data = data.replace(secret, b"***") if secret in data else data
        return data

    def _scrub_event(self, event: SseEvent) -> SseEvent:
        if not any(secret.decode() in event.data for secret in self._secrets):
            return event
        return event._replace(data=self._scrub(event.data.encode()).decode())

    def _check(
        self, response: aiohttp.ClientResponse, data: bytes, accept: tuple[int, ...]
    ) -> None:
        status = response.status
        if status < 300 or status in accept:
            return
        detail = self._describe(data)
        message = f"HTTP {status}{f': {detail}' if detail else ''}"
        if status in (401, 403):
            raise TargetError("denied", f"HTTP {status}", reached=False)
        if status in (429, 503):
            wait = read_retry_after(response.headers)
            raise TargetError("rate_limit", message, reached=False, retry_after=wait)
        if status in (502, 504):
            raise TargetError("connection", message)
        raise TargetError("agent" if status >= 500 else "protocol", message)

    def _describe(self, data: bytes) -> str:
        """Return the message of an error body, without keys."""
        try:
            text = error_text(msgspec.json.decode(data)) or data.decode()
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = data.decode("utf-8", "replace")
        return self.redact(" ".join(text.split())[:_MAX_QUOTED])

    def redact(self, text: str) -> str:
        """Return a text without keys."""
        return self._redactor.redact(text) if self._headers else text

    def _decode(self, data: bytes, response: aiohttp.ClientResponse) -> Json:
        if not data:
            return None
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            kind = response.headers.get("content-type", "unknown")
            message = f"expected JSON, got {kind}: {self._describe(data)!r:.120}"
            raise TargetError("protocol", message) from None

    def _ensure_session(self) -> aiohttp.ClientSession:
        """Open the session at the first request, because it belongs to the running loop."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),  # the caller limits conversations
                headers={"User-Agent": "carob", **self._headers},
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            )
        return self._session


def error_text(value: Json) -> str | None:
    """Return the message of a JSON error, in any of the common shapes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(error_text, value))) or None
    if not isinstance(value, dict):
        return None
    for key in ("error", "detail", "message", "msg", "error_message"):
        text = error_text(value.get(key))
        if text:
            return text
    return None


class SseEvent(NamedTuple):
    """A server-sent event."""

    event: str
    data: str

    def json(self) -> Any:
        """Return the data as JSON. Raises `TargetError`."""
        try:
            return msgspec.json.decode(self.data)
        except msgspec.DecodeError as error:
            raise TargetError("protocol", f"an event is not JSON: {self.data[:80]!r}") from error


class _SseParser:
    """Splits a stream into events, whatever the chunks are."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        """The line that is not complete yet."""
        self._event, self._data = "", list[str]()

    def feed(self, chunk: bytes) -> list[SseEvent]:
        self._parts.append(chunk)
        if b"\n" not in chunk:  # joined once: a line may come in very many chunks
            return []
        *lines, rest = b"".join(self._parts).split(b"\n")
        self._parts = [rest]
        events: list[SseEvent] = []
        for ended in lines:
            line = ended.removesuffix(b"\r")
            if not line:
                if self._data:
                    events.append(SseEvent(self._event or "message", "\n".join(self._data)))
                self._event, self._data = "", []
                continue
            field, _, value = line.decode("utf-8", "replace").partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                self._data.append(value)
            elif field == "event":
                self._event = value
        return events
