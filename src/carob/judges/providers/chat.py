"""Models behind the OpenAI chat completions API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from carob.judges.model import JudgeModel, JudgeReply, JudgeRequest, ProviderError
from carob.judges.providers.capabilities import Capabilities
from carob.judges.providers.completion import read_completion
from carob.judges.providers.endpoint import ModelEndpoint, find_endpoint, find_proxy
from carob.judges.providers.errors import http_error, parse_error, require_package
from carob.judges.providers.rate_limits import read_rate_limit
from carob.schema import JudgeSettings

if TYPE_CHECKING:
    import aiohttp

MAX_BODY = 8 * 1024 * 1024
_REJECTED_PARAMETER = (400, 403, 422)
"""The statuses that endpoints use for a parameter they do not accept."""


def open_chat(settings: JudgeSettings) -> JudgeModel:
    """Open a model of `openai`, `azure`, `ollama` or `vllm`."""
    endpoint = find_endpoint(settings)
    require_package("aiohttp", extra="judge")
    return ChatModel(endpoint, concurrency=settings.concurrency)


@dataclass(frozen=True, kw_only=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


class ChatModel:
    """A model behind an OpenAI-compatible endpoint."""

    max_concurrency: int | None = None

    def __init__(
        self, endpoint: ModelEndpoint, *, concurrency: int, prefers_words: bool = False
    ) -> None:
        self.name = endpoint.name
        self.prefers_words = prefers_words
        self._endpoint = endpoint
        self._concurrency = concurrency
        self._capabilities = Capabilities()
        self._proxy = None if endpoint.loopback else find_proxy(endpoint.url)
        self._session: aiohttp.ClientSession | None = None

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        """Send one request. A parameter that the endpoint rejects is left out from then on."""
        while True:
            capabilities = self._capabilities
            body = capabilities.request_body(self._endpoint.model, request)
            response = await self._post(msgspec.json.encode(body))
            if response.status == 200:
                return self._read(response)
            weaker = None
            if response.status in _REJECTED_PARAMETER:
                weaker = capabilities.without_rejected(parse_error(response.body), body)
            if weaker is None:
                raise self._http_error(response)
            # A concurrent call may have replaced the capabilities meanwhile. Its result must not
            # be overwritten by one that was derived from the older state.
            if self._capabilities is capabilities:
                self._capabilities = weaker

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _read(self, response: _Response) -> JudgeReply:
        content_type = response.headers.get("content-type", "").split(";")[0].strip().lower()
        if content_type != "application/json" and not content_type.endswith("+json"):
            raise ProviderError(
                "malformed",
                f"{self.name} returned content of type {content_type[:80]!r}, expected JSON",
            )
        return read_completion(self.name, response.body, read_rate_limit(response.headers))

    def _http_error(self, response: _Response) -> ProviderError:
        return http_error(
            self.name,
            response.status,
            parse_error(response.body),
            headers=response.headers,
            redactor=self._endpoint.redactor,
            key=self._endpoint.key,
        )

    async def _post(self, body: bytes) -> _Response:
        import aiohttp  # late: an optional package

        try:
            async with self._open_session().post(
                self._endpoint.url,
                data=body,
                proxy=self._proxy.url if self._proxy else None,
                allow_redirects=False,
            ) as response:
                content = await self._read_body(response)
                return _Response(status=response.status, headers=response.headers, body=content)
        except (aiohttp.ClientError, OSError) as error:
            failure = self._connection_error(error)
        # Raised outside of the handler: aiohttp's errors carry the request headers, and with them
        # the key, which would be reachable as `__context__`.
        raise failure

    def _connection_error(self, error: Exception) -> ProviderError:
        import aiohttp

        name = type(error).__name__
        if isinstance(error, aiohttp.ClientSSLError):
            message = f"{self.name} has an untrusted certificate: {self._redact(error)}"
            return ProviderError("rejected", message)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            message = f"the proxy refused to connect to {self.name} (HTTP {error.status})"
            return ProviderError("denied" if error.status == 407 else "disconnected", message)
        if isinstance(error, aiohttp.ClientResponseError):
            return ProviderError("malformed", f"{self.name} sent an invalid HTTP response: {name}")
        if isinstance(error, aiohttp.ClientConnectorError):
            message = f"{self.name} cannot be reached: {self._redact(error)}"
            return ProviderError("disconnected", message)
        return ProviderError("disconnected", f"{self.name} closed the connection: {name}")

    async def _read_body(self, response: aiohttp.ClientResponse) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_any():
            content += chunk
            if len(content) > MAX_BODY:
                response.close()
                message = f"{self.name} returned more than {MAX_BODY} bytes"
                raise ProviderError("malformed", message)
        return bytes(content)

    def _redact(self, error: Exception) -> str:
        text = self._endpoint.redactor.redact(str(error))
        return self._proxy.redactor.redact(text) if self._proxy else text

    def _open_session(self) -> aiohttp.ClientSession:
        """Open the session at the first request, because it belongs to the running loop."""
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
