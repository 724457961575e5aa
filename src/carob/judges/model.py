"""The interface to a judge model: one request, one reply, or a `ProviderError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from carob.schema import Json

Role = Literal["system", "user", "assistant"]
ErrorKind = Literal[
    "rate_limit", "overloaded", "timeout", "disconnected", "malformed", "denied", "rejected"
]
"""`denied` means a bad key, `rejected` a bad request; the other kinds are transient."""


@dataclass(frozen=True, kw_only=True)
class JudgeMessage:
    role: Role
    text: str


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """Everything that determines a reply except the model.

    The field names are part of the cache key: renaming one invalidates every cached answer.
    """

    messages: tuple[JudgeMessage, ...]
    schema: Mapping[str, Json]
    """Closed JSON Schema of the answer: every property required, no additional properties."""
    max_tokens: int
    temperature: float | None
    probabilities: bool = False
    """Request token probabilities, if the API supports them."""
    words: tuple[str, ...] = ()
    """Request the first token of one of these words instead of JSON, with its probabilities. Only
    for models with `prefers_words`."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token of the reply, and the probability of each alternative in its position."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """The remaining quota that the provider reports."""

    requests: int | None = None
    tokens: int | None = None
    reset: float | None = None
    """Seconds until the quota is renewed."""


@dataclass(frozen=True, kw_only=True)
class JudgeReply:
    text: str
    truncated: bool = False
    """Whether the reply stopped at `max_tokens`."""
    tokens: tuple[Token, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    rate_limit: RateLimit | None = None


class ProviderError(Exception):
    """A request without a reply. The message never contains a key or a header."""

    def __init__(self, kind: ErrorKind, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retry_after = retry_after

    @property
    def transient(self) -> bool:
        """Whether a retry may succeed."""
        return self.kind not in ("denied", "rejected")


class JudgeModel(Protocol):
    """A model that a judge asks. Judge providers return one."""

    name: str
    """The name in the user's configuration, such as `openai:gpt-5-mini`."""
    prefers_words: bool
    """Whether the probability of the first token is a better answer than JSON."""
    max_concurrency: int | None
    """Maximum concurrent requests; `None` for no limit."""

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        """Send one request. Raises `ProviderError`. Retries and timeouts are the caller's job."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
