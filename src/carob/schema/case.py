"""One golden test and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from carob.schema.base import Json, Struct
from carob.schema.trace import Rubric, ToolCall, Trace, Turn


class SourceDocument(Struct, frozen=True):
    """The document from which a value was read, so that writing it back loses nothing."""

    format: str
    doc: Json
    extras: dict[str, Json] = {}
    """By format: what an earlier document stated beyond the model."""
    unnamed: tuple[str, ...] = ()
    """The formats whose documents did not state a name, so that the file name was used."""
    omitted: tuple[Json, ...] = ()
    """The cases that an earlier conversion left out, each with its index."""


class Lineage(Struct, frozen=True):
    """Where a case comes from."""

    source: str | None = None
    ticket_id: str | None = None
    trace_id: str | None = None
    file: str | None = None
    reviewed_by: str | None = None
    date_added: str | None = None

    @classmethod
    def of(cls, metadata: Mapping[str, Json]) -> Lineage:
        """Read the lineage from metadata keys."""
        texts = {name: metadata.get(name) for name in cls.__struct_fields__}
        return cls(**{name: text for name, text in texts.items() if isinstance(text, str)})


class Scenario(Struct, frozen=True):
    """A conversation to simulate instead of fixed turns."""

    prompt: str
    plan: str
    persona: Json = None
    """The name of a known persona, or a full description."""


class CaseSession(Struct, frozen=True):
    """The session in which a case starts."""

    app: str
    user: str
    id: str | None = None
    state: dict[str, Json] = {}


class Case(Struct, frozen=True):
    """One golden test: turns with what is expected of each, and what is expected of the whole.

    `None` means "not stated"; empty is an expectation of its own.
    """

    id: str
    turns: tuple[Turn, ...] = ()
    context: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    """Expected calls in the whole case, if the source does not assign them to turns."""
    trajectory: tuple[str, ...] | None = None
    """Expected sequence of agents or steps."""
    state: dict[str, Json] | None = None
    """Expected session state at the end."""
    agents: tuple[str, ...] | None = None
    """Agents that are expected to be involved, and that are evaluated."""
    tools: tuple[str, ...] | None = None
    """Tools that the agent has."""
    contains: tuple[str, ...] | None = None
    """Texts that the response must contain."""
    contract: str | None = None
    """Name of the JSON schema that the answer must match."""
    goal: str | None = None
    relevant_context: str | None = None
    """The part of the context that is relevant for the user's intent."""
    reference: dict[str, Json] = {}
    """Further ground truth under its original names, for metrics that use it."""
    rubrics: tuple[Rubric, ...] = ()
    scenario: Scenario | None = None
    session: CaseSession | None = None
    metrics: tuple[str, ...] | None = None
    """The metrics that this case asks for."""
    profile: str | None = None
    """The scoring profile that turns its scores into a verdict."""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}
    created_at: str | None = None
    """ISO 8601, as in `updated_at`."""
    updated_at: str | None = None
    recorded: Trace | None = msgspec.field(default=None, name="recording")
    """The recorded answer that the source contains beside the case."""
    origin: SourceDocument | None = None

    @classmethod
    def of(
        cls,
        user: str,
        response: str | None = None,
        *,
        id: str | None = None,
        context: str | None = None,
        tags: str | Iterable[str] = (),
        metadata: Mapping[str, Json] | None = None,
    ) -> Case:
        """Create a case of one turn. The default id is derived from the user message."""
        if not isinstance(user, str):  # pyright: ignore[reportUnnecessaryIsInstance] - from a REPL
            raise TypeError(f"expected the user message as a str, got {type(user).__name__}")
        return cls(
            id=content_id(user) if id is None else id,
            turns=(Turn(user=user, response=response),),
            context=context,
            tags=(tags,) if isinstance(tags, str) else tuple(tags),
            metadata=dict(metadata or {}),
        )

    def __repr__(self) -> str:
        """The fields of the case without the document that it was read from, which repeats them."""
        return msgspec.Struct.__repr__(msgspec.structs.replace(self, origin=None))

    @property
    def lineage(self) -> Lineage:
        """Where the case comes from, by the well-known keys of its metadata."""
        return Lineage.of(self.metadata)


def content_id(*user: str) -> str:
    """The id of a case whose source has none. It is derived from the user messages only, so that a
    case keeps its id when the expected answer is corrected."""
    data = "\0".join(user).encode("utf-8", "surrogatepass")
    return f"case-{blake2b(data, digest_size=6).hexdigest()}"
