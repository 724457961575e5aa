"""What a semantic convention says of one span: its role, and where each field is found.

A convention is a list of sources per field, in order; the engine in `turns` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from copy import copy
from typing import ClassVar, Literal, NamedTuple

import msgspec

from carob.schema import Json, Span, Usage
from carob.traces.mapping.tool_spans import ToolOutput, unwrap_arguments, unwrap_output
from carob.traces.messages import numbered_attributes
from carob.traces.messages.message import Message, Role, last_answer, last_user
from carob.traces.messages.read import read_last_message, read_messages
from carob.traces.shape import decode_json, to_integer, to_text

SpanRole = Literal["agent", "workflow", "chain", "model", "tool", "retriever", "skip"]
"""`workflow` wraps the agents of a turn, `chain` is any step with input and output, and what is
below `skip` is no part of the agent's work."""


class MessageSource(NamedTuple):
    """One place where messages may be: its name, and how they are read from there."""

    key: str
    read: Callable[[Span], list[Message] | None]
    last: Callable[[Span, Role], list[Message] | None] | None = None
    """The same, if only what one side said last is wanted."""
    marks: tuple[str, ...] = ()
    """Attributes of which one must be there for anything to be read; events have none."""

    def is_there(self, attributes: Container[str]) -> bool:
        """Whether there may be anything to read, told without reading."""
        return (
            not self.marks
            or self.key in attributes
            or any(mark in attributes for mark in self.marks)
        )


def messages_in(key: str, role: Role) -> MessageSource:
    """Messages, or a bare text of `role`, in one attribute."""

    def read(span: Span) -> list[Message] | None:
        value = span.attributes.get(key)
        return None if value is None else read_messages(value, role)

    def last(span: Span, wanted: Role) -> list[Message] | None:
        value = span.attributes.get(key)
        return None if value is None else read_last_message(value, role, wanted)

    return MessageSource(key, read, last, (key,))


def numbered_messages(prefix: str, layout: numbered_attributes.Layout) -> MessageSource:
    """Messages spread over numbered attributes."""

    def read(span: Span) -> list[Message] | None:
        return numbered_attributes.read(span.attributes, prefix, layout)

    def last(span: Span, wanted: Role) -> list[Message] | None:
        return numbered_attributes.last(span.attributes, prefix, layout, wanted)

    return MessageSource(prefix, read, last, numbered_attributes.marks(prefix, layout))


def text_in(key: str, role: Role) -> MessageSource:
    """A text that is a text even if it looks like JSON, such as a structured result."""

    def read(span: Span) -> list[Message] | None:
        value = span.attributes.get(key)
        return [Message(role, to_text(value))] if value is not None else None

    return MessageSource(key, read, None, (key,))


LANGFUSE_STORED = ("langfuse.observation.input", "langfuse.observation.output")
"""Where Langfuse puts what it takes out of the attributes of whichever convention."""
LANGFUSE_INPUT = messages_in(LANGFUSE_STORED[0], "user")
LANGFUSE_OUTPUT = messages_in(LANGFUSE_STORED[1], "assistant")


class ToolSpan(msgspec.Struct, eq=False, gc=False):
    """What a tool's span says."""

    name: str | None
    id: str | None = None
    recorded: Json = None
    """The arguments, possibly wrapped; `None` is "not recorded"."""
    output: ToolOutput | None = None
    """`None` is "not recorded"."""
    args_key: str | None = None
    output_key: str | None = None
    requested: bool = False
    """Whether the span tells that a model asked for the call, not that it ran."""

    @property
    def args(self) -> Json:
        """The arguments, unwrapped only if nobody else tells them."""
        return None if self.recorded is None else unwrap_arguments(self.recorded)


class TokenKeys(NamedTuple):
    """The attributes that count each kind of token, in order."""

    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: tuple[str, ...] = ()


_KEYS = (
    "agent_names",
    "models",
    "providers",
    "finishes",
    "conversations",
    "tool_names",
    "tool_ids",
    "tool_args",
    "tool_results",
)
RESPONSES = ("gen_ai.response.id", "output.value")
"""Where a span tells which response a model gave."""
_NOTHING = ("{}", "[]", "null")
"""Outputs of what ended without any."""
_SOURCES = ("inputs", "outputs", "transcripts", "model_inputs", "model_outputs")


class Convention:
    """The sources of every field; a subclass states its own."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # bump when the same spans would give another trace

    agent_names: ClassVar[tuple[str, ...]] = ()
    models: ClassVar[tuple[str, ...]] = ()
    providers: ClassVar[tuple[str, ...]] = ()
    finishes: ClassVar[tuple[str, ...]] = ()
    conversations: ClassVar[tuple[str, ...]] = ()
    tokens: ClassVar[TokenKeys] = TokenKeys()
    inputs: ClassVar[tuple[MessageSource, ...]] = ()
    outputs: ClassVar[tuple[MessageSource, ...]] = ()
    transcripts: ClassVar[tuple[MessageSource, ...]] = ()
    """Whole runs, asked only if nothing nearer answers."""
    model_inputs: ClassVar[tuple[MessageSource, ...]] = ()
    model_outputs: ClassVar[tuple[MessageSource, ...]] = ()
    """The same of model calls, where they differ."""
    tool_names: ClassVar[tuple[str, ...]] = ()
    tool_ids: ClassVar[tuple[str, ...]] = ()
    tool_args: ClassVar[tuple[str, ...]] = ()
    tool_results: ClassVar[tuple[str, ...]] = ()
    names_responses: bool = True
    """Whether a model's span may tell which response it got."""

    @property
    def mapper(self) -> str:
        """The name and version that a trace remembers."""
        return f"{self.name}@{self.version}"

    def narrowed(self, attributes: Container[str]) -> Convention:
        """The same for spans of exactly these attributes: what is not there is not asked for."""
        found = copy(self)
        fields = vars(found)
        for name in _KEYS:
            fields[name] = tuple(key for key in getattr(self, name) if key in attributes)
        for name in _SOURCES:
            fields[name] = tuple(one for one in getattr(self, name) if one.is_there(attributes))
        kinds = (tuple(key for key in keys if key in attributes) for keys in self.tokens)
        fields["tokens"] = TokenKeys(*kinds)
        fields["names_responses"] = any(key in attributes for key in RESPONSES)
        return found

    def role(self, span: Span) -> SpanRole | None:
        """The part that the span plays; `None` is none."""
        raise NotImplementedError

    def common_role(self, span: Span) -> SpanRole | None:
        """The part that all spans play that name this operation and have these attributes."""
        return None

    def agent(self, span: Span) -> str | None:
        """The name of the agent."""
        return first_text(span.attributes, self.agent_names)

    def inner_agent(self, span: Span) -> str | None:
        """The name of an agent that only its place within another run shows to be one."""
        return None

    def model(self, span: Span) -> str | None:
        """The name of the model."""
        for key in self.models:  # asked of every model call: a call within costs as much as this
            value = span.attributes.get(key)
            if value and isinstance(value, str):
                return value
        return None

    def provider(self, span: Span) -> str | None:
        """Who serves the model."""
        for key in self.providers:
            value = span.attributes.get(key)
            if value and isinstance(value, str):
                return value
        return None

    def finish(self, span: Span) -> str | None:
        """Why the model stopped."""
        for key in self.finishes:
            value = decode_json(span.attributes.get(key))
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, str) and value:
                return value
        return None

    def usage(self, span: Span) -> Usage:
        """The tokens of this span."""
        held = span.attributes
        given, made, cached, cache_write, reasoning, total = self.tokens
        return Usage(
            first_integer(held, given) if given else None,
            first_integer(held, made) if made else None,
            first_integer(held, cached) if cached else None,
            first_integer(held, cache_write) if cache_write else None,
            first_integer(held, reasoning) if reasoning else None,
            total_tokens=first_integer(held, total) if total else None,
        )

    def grounding(self, span: Span) -> Sequence[Json]:
        """The chunks of retrieved text that the answer of a model stands on."""
        return ()

    def asked(self, span: Span) -> tuple[str, list[Message]] | None:
        """The messages that went in, and the source that answered."""
        return _first(span, self.inputs_of(span))

    def answered(self, span: Span) -> tuple[str, list[Message]] | None:
        """The messages that came out, and the source that answered: one that is not empty first."""
        empty = None
        for source in self.outputs_of(span):
            said = source.read(span)
            if said:
                for one in said:
                    if one.text or one.calls or one.results:
                        return source.key, said
                empty = empty or (source.key, said)
        return empty

    def user(self, span: Span) -> tuple[str, str] | None:
        """What the user said last, and the source that answered."""
        for source in self.inputs_of(span):
            said = source.last(span, "user") if source.last else source.read(span)
            if said and (found := last_user(said)) is not None:
                return source.key, found
        return None

    def response(self, span: Span) -> tuple[str, str] | None:
        """What was answered last, and the source that answered."""
        empty = None
        for source in self.outputs_of(span):
            said = source.last(span, "assistant") if source.last else source.read(span)
            found = last_answer(said) if said else None
            if found:
                return source.key, found
            if found is not None:
                empty = empty or (source.key, found)
        return empty

    def inputs_of(self, span: Span) -> tuple[MessageSource, ...]:
        """The sources of input, where they depend on the span."""
        return self.inputs

    def outputs_of(self, span: Span) -> tuple[MessageSource, ...]:
        """The sources of output, where they depend on the span."""
        return self.outputs

    def transcript(self, span: Span) -> tuple[str, list[Message]] | None:
        """The messages of the whole run, and the source that answered."""
        return _first(span, self.transcripts)

    def raw_answer(self, span: Span) -> tuple[str, str] | None:
        """An output that is no message at all, such as a structured result."""
        for source in self.outputs_of(span):
            value = span.attributes.get(source.key)
            if isinstance(value, str) and value and value not in _NOTHING:
                said = source.read(span) or ()
                if not any(one.calls or one.results for one in said):
                    return source.key, value
        return None

    def tool(self, span: Span) -> ToolSpan:
        """The call that a tool's span is the execution of."""
        attributes = span.attributes
        recorded = args_key = found = output_key = None
        for args_key in self.tool_args:
            recorded = attributes.get(args_key)
            if recorded is not None:
                break
        for output_key in self.tool_results:
            value = attributes.get(output_key)
            if value is not None:
                found = unwrap_output(value)
                break
        call = first_text(attributes, self.tool_ids) or (found.id if found else None)
        return ToolSpan(self.tool_name(span), call, recorded, found, args_key, output_key)

    def tool_name(self, span: Span) -> str | None:
        """The name of the tool."""
        return first_text(span.attributes, self.tool_names)

    def conversation(self, span: Span) -> str | None:
        """The id that recordings of the same conversation share."""
        return first_text(span.attributes, self.conversations)


def first_text(attributes: dict[str, Json], keys: tuple[str, ...]) -> str | None:
    """The first of several attributes that is a text."""
    for key in keys:
        value = attributes.get(key)
        if value and isinstance(value, str):
            return value
    return None


def first_integer(attributes: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    """The first of several attributes that is a count."""
    for key in keys:
        value = attributes.get(key)
        if type(value) is int:
            return value
        if value is not None and (found := to_integer(value)) is not None:
            return found
    return None


def _first(span: Span, sources: tuple[MessageSource, ...]) -> tuple[str, list[Message]] | None:
    for source in sources:
        said = source.read(span)
        if said:
            return source.key, said
    return None
