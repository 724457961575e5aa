"""The clients that providers are reached with. None of them tries again by itself, follows a
redirect with a key in its hand, or sends what is for this machine through a proxy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from carob.errors import UsageError
from carob.judges.providers.access import Access

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model


@dataclass(kw_only=True)
class Heard:
    """What came with a reply, of which the clients say nothing."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


heard: ContextVar[Heard | None] = ContextVar("heard", default=None)
"""Takes what comes with the reply to the next request."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """A model of pydantic-ai, and how to let go of its connections."""

    model: Model[Any]
    close: Callable[[], Awaitable[None]]


def open_client(access: Access) -> Client:
    """The client for an access, or `UsageError`. Nothing is sent yet."""
    from pydantic_ai.exceptions import UserError

    try:
        return _OPENERS[access.provider](access)
    except UserError as error:
        message = access.keys.hide(str(error).partition(". ")[0])  # then it speaks of its own API
        raise UsageError(message, where=access.name) from None


def _anthropic(access: Access) -> Client:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    http = _http(access)
    client = AsyncAnthropic(
        api_key=_only(access.secrets),
        base_url=access.address or "https://api.anthropic.com",
        timeout=access.deadline,
        max_retries=0,
        http_client=http,
    )
    provider = AnthropicProvider(anthropic_client=client)
    return Client(model=AnthropicModel(access.model, provider=provider), close=http.aclose)


def _google(access: Access) -> Client:
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    http = _http(access)
    provider = GoogleProvider(
        api_key=_only(access.secrets),
        base_url=access.address or "https://generativelanguage.googleapis.com",
        http_client=http,
        retry_options=HttpRetryOptions(attempts=1),
    )
    return Client(model=GoogleModel(access.model, provider=provider), close=http.aclose)


def _bedrock(access: Access) -> Client:
    """Its calls block threads, of which there are 40 at most, and which nobody can cancel: so they
    end by themselves when nobody waits for them any more."""
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    client = _boto(access)

    async def close() -> None:
        client.close()

    provider = BedrockProvider(bedrock_client=client)
    return Client(model=BedrockConverseModel(access.model, provider=provider), close=close)


def _boto(access: Access) -> Any:
    import boto3  # pyright: ignore[reportMissingTypeStubs] - it has none
    from botocore import UNSIGNED  # pyright: ignore[reportMissingTypeStubs] - nor has this
    from botocore.config import Config  # pyright: ignore[reportMissingTypeStubs]
    from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingTypeStubs]

    bearer = len(access.secrets) == 1
    config = Config(
        read_timeout=access.deadline,
        connect_timeout=access.deadline,
        retries={"total_max_attempts": 1},
        max_pool_connections=access.concurrency,
        proxies={} if access.loopback else None,
        **({"signature_version": UNSIGNED} if bearer else {}),
    )
    pair = {} if bearer else {name.lower(): value for name, value in access.secrets.items()}
    try:
        session = cast("Any", boto3.Session(region_name=access.region, **pair))
        client = session.client("bedrock-runtime", config=config, endpoint_url=access.address)
    except BotoCoreError as error:
        message = f"the client of AWS cannot be set up: {access.keys.hide(str(error))}"
        raise UsageError(message, where=access.name) from None
    if bearer:
        client.meta.events.register("request-created.bedrock-runtime", _Bearer(access))
    return client


class _Bearer:
    def __init__(self, access: Access) -> None:
        self._header = f"Bearer {_only(access.secrets)}"

    def __call__(self, request: Any, **_: Any) -> None:
        request.headers["Authorization"] = self._header


def _http(access: Access) -> httpx2.AsyncClient:
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(access.deadline, pool=None),
        limits=httpx2.Limits(max_connections=access.concurrency),
        follow_redirects=False,
        trust_env=not access.loopback,
        event_hooks={"response": [_hear]},
    )


async def _hear(response: httpx2.Response) -> None:
    place = heard.get()
    if place is not None:
        place.status, place.headers = response.status_code, response.headers


def _only(secrets: Mapping[str, str]) -> str:
    (key,) = secrets.values()
    return key


_OPENERS: dict[str, Callable[[Access], Client]] = {
    "anthropic": _anthropic,
    "google": _google,
    "bedrock": _bedrock,
}
