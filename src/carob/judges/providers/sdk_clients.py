"""The client libraries of Anthropic, Google and AWS, behind pydantic-ai.

All are configured alike: no retries of their own, no redirects, which would carry the key to
another host, and no proxy for requests to this machine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from carob.errors import UsageError
from carob.judges.providers.credentials import Credentials

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


@dataclass(kw_only=True)
class ResponseInfo:
    """Status and headers of a response, which pydantic-ai does not expose."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


response_info: ContextVar[ResponseInfo | None] = ContextVar("response_info", default=None)
"""Receives status and headers of the next response. A context variable, because concurrent requests
share a client: each task sees only its own response."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """A pydantic-ai model, and how to close its connections."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]


def open_client(credentials: Credentials) -> Client:
    """Open the client of a model. Raises `UsageError`. Nothing is sent yet."""
    from pydantic_ai.exceptions import UserError

    try:
        return _OPENERS[credentials.provider](credentials)
    except UserError as error:
        # Only the first sentence: the rest explains the Python API of pydantic-ai.
        message = credentials.redactor.redact(str(error).partition(". ")[0])
        raise UsageError(message, where=credentials.name) from None


def _anthropic(credentials: Credentials) -> Client:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    http = _http(credentials)
    client = AsyncAnthropic(
        api_key=_single_key(credentials.secrets),
        base_url=credentials.url or "https://api.anthropic.com",
        timeout=credentials.deadline,
        max_retries=0,
        http_client=http,
    )
    provider = AnthropicProvider(anthropic_client=client)
    return Client(model=AnthropicModel(credentials.model, provider=provider), close=http.aclose)


def _google(credentials: Credentials) -> Client:
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    http = _http(credentials)
    provider = GoogleProvider(
        api_key=_single_key(credentials.secrets),
        base_url=credentials.url or "https://generativelanguage.googleapis.com",
        http_client=http,
        retry_options=HttpRetryOptions(attempts=1),
    )
    return Client(model=GoogleModel(credentials.model, provider=provider), close=http.aclose)


def _bedrock(credentials: Credentials) -> Client:
    # Calls of boto3 block a thread each, out of at most 40, and cannot be cancelled. The timeouts
    # in `_boto` end them when the caller has stopped waiting.
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    client = _boto(credentials)

    async def close() -> None:
        client.close()

    provider = BedrockProvider(bedrock_client=client)
    return Client(model=BedrockConverseModel(credentials.model, provider=provider), close=close)


def _boto(credentials: Credentials) -> Any:
    import boto3  # pyright: ignore[reportMissingTypeStubs] - boto3 has no stubs
    from botocore import UNSIGNED  # pyright: ignore[reportMissingTypeStubs] - botocore has no stubs
    from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs] - as above
    from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingTypeStubs] - as above

    bearer = len(credentials.secrets) == 1
    config = Config(
        read_timeout=credentials.deadline,
        connect_timeout=credentials.deadline,
        retries={"total_max_attempts": 1},
        max_pool_connections=credentials.concurrency,
        proxies={} if credentials.loopback else None,
        **({"signature_version": UNSIGNED} if bearer else {}),
    )
    key_pair = (
        {} if bearer else {name.lower(): value for name, value in credentials.secrets.items()}
    )
    try:
        session = cast("Any", boto3.Session(region_name=credentials.region, **key_pair))
        client = session.client("bedrock-runtime", config=config, endpoint_url=credentials.url)
    except BotoCoreError as error:
        message = f"cannot set up the AWS client: {credentials.redactor.redact(str(error))}"
        raise UsageError(message, where=credentials.name) from None
    if bearer:
        client.meta.events.register("request-created.bedrock-runtime", _BearerToken(credentials))
    return client


class _BearerToken:
    """Adds the authorization header that boto3 does not know for unsigned requests."""

    def __init__(self, credentials: Credentials) -> None:
        self._header = f"Bearer {_single_key(credentials.secrets)}"

    def __call__(self, request: Any, **_: Any) -> None:
        request.headers["Authorization"] = self._header


def _http(credentials: Credentials) -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(credentials.deadline, pool=None),
        limits=httpx2.Limits(max_connections=credentials.concurrency),
        follow_redirects=False,
        trust_env=not credentials.loopback,
        event_hooks={"response": [_record_response]},
    )


async def _record_response(response: httpx2.Response) -> None:
    info = response_info.get()
    if info is not None:
        info.status, info.headers = response.status_code, response.headers


def _single_key(secrets: Mapping[str, str]) -> str:
    (key,) = secrets.values()
    return key


_OPENERS: dict[str, Callable[[Credentials], Client]] = {
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": _bedrock,
}
