"""A model behind a wire: one request, one reply, or a refusal that says whether to try again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from carob.schema import Json

Role = Literal["system", "user", "assistant"]
Trouble = Literal[
    "rate_limit", "overloaded", "timeout", "disconnected", "malformed", "denied", "rejected"
]
"""`denied`: the key does not do; `rejected`: the request does not; the others may pass."""


@dataclass(frozen=True, kw_only=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that decides a reply but the model."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Json]
    """JSON Schema of the answer, closed: every property required, no others."""
    max_tokens: int
    temperature: float | None
    probabilities: bool = False
    """Tell the probabilities of tokens, where the wire can."""
    words: tuple[str, ...] = ()
    """Not JSON but the first token of one of these words, with its probabilities; only for models
    that say they can."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token of the reply, and what might have stood in its place with which probability."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What the provider says is left before it refuses."""

    requests: int | None = None
    tokens: int | None = None
    reset: float | None = None
    """Seconds until there is more."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    text: str
    cut: bool = False
    """The reply ended because it reached its limit of tokens."""
    tokens: tuple[Token, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    allowance: Allowance | None = None


class RefusedError(Exception):
    """There is no reply. The message never has a key or a header in it."""

    def __init__(self, trouble: Trouble, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.trouble: Trouble = trouble
        self.retry_after = retry_after

    @property
    def passing(self) -> bool:
        """Is it worth trying again?"""
        return self.trouble not in ("denied", "rejected")


class Model(Protocol):
    name: str
    """As the user names it, such as `openai:gpt-5-mini`."""
    words: bool
    """Does it answer yes or no better by the probability of its first token?"""
    at_once: int | None
    """How many requests it takes at the same time; `None` is as many as there are."""

    async def reply(self, request: Request) -> Reply:
        """The reply, or `RefusedError`. Waits as long as it takes: who asks holds the watch."""
        ...

    async def close(self) -> None: ...
