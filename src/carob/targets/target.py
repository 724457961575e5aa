"""The protocol of live agents: open a conversation, say something, close it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from carob.schema import Case, Json, Trace, Turn

if TYPE_CHECKING:
    from carob.targets.mocks import ToolMocks

Capability: TypeAlias = Literal[
    "state_in", "state_out", "calls", "results", "usage", "agents", "context", "mocks", "stream"
]
"""What a target can take or show: the initial state, the final state, tool calls, their results,
token usage, agent names; the context of a case; mocked tools; the first token before the last."""
ErrorKind: TypeAlias = Literal[
    "agent", "case", "connection", "denied", "mock", "protocol", "rate_limit", "timeout", "user"
]
"""What broke: the agent itself, the golden case, the connection, the key, a missing tool mock, an
answer that cannot be understood, a rate limit, a time limit, the simulated user."""

FIRST_TOKENS = "carob.time_to_first_token_ms"
"""The attribute of a trace with the milliseconds until the first token of each turn."""


class TargetError(Exception):
    """A conversation that cannot go on, and why. The message never contains a key."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        reached: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.reached = reached
        """Whether the agent may have received the message. If not, it can be sent again."""
        self.retry_after = retry_after

    @property
    def transient(self) -> bool:
        """Whether another conversation may succeed."""
        return self.kind in ("connection", "rate_limit", "timeout")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One of several tries at a case."""

    run: str
    """The key of the run, from which the ids of the attempt are derived."""
    case: str
    number: int = 1
    seed: int = 0
    state: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The initial state: that of the case, with the changes of the caller."""
    mocks: ToolMocks | None = None
    """Results for tool calls. `None` to run the real tools."""
    retry: int = 0
    """How often the attempt was begun before."""

    @property
    def session(self) -> str:
        """An id for the session, which no other attempt and no retry has."""
        return f"carob-{self._digest('session', self.retry, size=12)}"

    def traceparent(self, turn: int) -> str:
        """The W3C trace context of a turn, with the sampled flag. The ids are derived, so that a
        replay has the same."""
        return f"00-{self.trace_id(turn)}-{self._digest('span', turn, self.retry, size=8)}-01"

    def trace_id(self, turn: int) -> str:
        """The trace id of a turn. Each turn has its own: agents start a trace per request."""
        return self._digest("trace", turn, self.retry, size=16)

    def _digest(self, *parts: object, size: int) -> str:
        text = "\0".join(map(str, (self.run, self.case, self.number, *parts)))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


@dataclass(frozen=True, kw_only=True)
class TurnContext:
    """What a target may use of a turn besides the message."""

    index: int
    traceparent: str
    deadline: float
    """Seconds that the turn may take. The caller enforces it."""


class Conversation(Protocol):
    """A session with the agent."""

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Send one message of the user, once, and return what the agent did. Raises
        `TargetError`."""
        ...

    async def close(self) -> Trace | None:
        """End the session. Returns a better record than the replies if there is one, such as the
        session document; fields that it leaves out are taken from the replies."""
        ...


class Target(Protocol):
    """A live agent. This is what the entry points of `carob.targets` return."""

    @property
    def name(self) -> str:
        """The name in the user's command, such as `adk:http://127.0.0.1:8000/shop`."""
        ...

    @property
    def params(self) -> dict[str, Json]:
        """What else determines its answers. Part of the fingerprint of the run."""
        ...

    @property
    def can(self) -> frozenset[Capability]:
        """Its inputs and outputs, known before anything is sent."""
        ...

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Start a session. Raises `TargetError`."""
        ...

    async def close(self) -> None:
        """Close all connections, after the last conversation."""
        ...


@runtime_checkable
class CaseTarget(Protocol):
    """A target that answers a whole case at once."""

    async def answer_case(self, case: Case, attempt: Attempt) -> Trace:
        """Return what the agent did."""
        ...
