"""Models behind the wire that most speak: chat completions as OpenAI defined them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from carob.judges.model import RefusedError, Reply, Request
from carob.judges.providers.allowance import allowance
from carob.judges.providers.completion import read_completion
from carob.judges.providers.dialect import Dialect
from carob.judges.providers.endpoint import Endpoint
from carob.judges.providers.proxy import find_proxy
from carob.judges.providers.refusal import complaint, refusal

if TYPE_CHECKING:
    import aiohttp

MAX_BODY = 8 * 1024 * 1024
_TEACHING = (400, 403, 422)


@dataclass(frozen=True, kw_only=True)
class _Received:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Chat:
    """A model behind an OpenAI-compatible endpoint."""

    at_once: int | None = None

    def __init__(self, endpoint: Endpoint, *, concurrency: int, words: bool = False) -> None:
        self.name = endpoint.name
        self.words = words
        self._endpoint = endpoint
        self._concurrency = concurrency
        self._dialect = Dialect()
        self._proxy = None if endpoint.loopback else find_proxy(endpoint.url)
        self._session: aiohttp.ClientSession | None = None

    async def reply(self, request: Request) -> Reply:
        """The reply. A parameter that the endpoint does not take is left out from then on."""
        while True:
            dialect = self._dialect
            body = dialect.body(self._endpoint.model, request)
            received = await self._post(msgspec.json.encode(body))
            if received.status == 200:
                return self._read(received)
            said = complaint(received.body)
            learned = dialect.learned(said, body) if received.status in _TEACHING else None
            if learned is None:
                raise self._refusal(received)
            if self._dialect is dialect:  # else another call has learned something meanwhile
                self._dialect = learned

    async def close(self) -> None:
        """Let go of all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _read(self, received: _Received) -> Reply:
        kind = received.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise RefusedError(
                "malformed",
                f"{self.name} answered with content of type {kind[:80]!r}, not with JSON",
            )
        return read_completion(self.name, received.body, allowance(received.headers))

    def _refusal(self, received: _Received) -> RefusedError:
        return refusal(
            self.name,
            received.status,
            complaint(received.body),
            headers=received.headers,
            keys=self._endpoint.keys,
            key=self._endpoint.key,
        )

    async def _post(self, body: bytes) -> _Received:
        import aiohttp

        try:
            async with self._opened().post(
                self._endpoint.url,
                data=body,
                proxy=self._proxy.url if self._proxy else None,
                allow_redirects=False,
            ) as response:
                content = await self._content(response)
                return _Received(status=response.status, headers=response.headers, body=content)
        except (aiohttp.ClientError, OSError) as error:
            refused = self._broken(error)
        # Not from within the handler: aiohttp's errors carry the headers of the request.
        raise refused

    def _broken(self, error: Exception) -> RefusedError:
        import aiohttp

        kind = type(error).__name__
        if isinstance(error, aiohttp.ClientSSLError):
            return RefusedError("rejected", f"{self.name} cannot be trusted: {self._hide(error)}")
        if isinstance(error, aiohttp.ClientHttpProxyError):
            message = f"the proxy refused to reach {self.name} (HTTP {error.status})"
            return RefusedError("denied" if error.status == 407 else "disconnected", message)
        if isinstance(error, aiohttp.ClientResponseError):
            message = f"{self.name} does not speak HTTP as it should: {kind}"
            return RefusedError("malformed", message)
        if isinstance(error, aiohttp.ClientConnectorError):
            message = f"{self.name} cannot be reached: {self._hide(error)}"
            return RefusedError("disconnected", message)
        return RefusedError("disconnected", f"{self.name} broke the connection off: {kind}")

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        content = bytearray()
        async for piece in response.content.iter_any():
            content += piece
            if len(content) > MAX_BODY:
                response.close()
                message = f"{self.name} answered with more than {MAX_BODY} bytes"
                raise RefusedError("malformed", message)
        return bytes(content)

    def _hide(self, error: Exception) -> str:
        text = self._endpoint.keys.hide(str(error))
        return self._proxy.keys.hide(text) if self._proxy else text

    def _opened(self) -> aiohttp.ClientSession:
        """The session, made when there is a loop that it can belong to."""
        import aiohttp

        if self._session is None:
            headers = {"Content-Type": "application/json", "User-Agent": "carob"}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._concurrency),
                headers=headers | dict(self._endpoint.headers),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            )
        return self._session
