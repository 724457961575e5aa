"""The base class of conventions: which spans are its own, and where each field is.

A convention lists the sources of every field in order of preference; the modules beside this one
build traces from them. A convention for a new framework subclasses `Convention`, or `GenAi` if the
framework also writes OTel's attributes, and states what differs.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from copy import copy
from typing import ClassVar, Literal, NamedTuple

from carob.schema import Json, Span, Usage
from carob.traces.mapping.graphs import graph_node
from carob.traces.mapping.sources import MessageSource
from carob.traces.mapping.tool_spans import ToolSpan, unwrap_output
from carob.traces.messages.message import Message, asked_text, last_answer
from carob.traces.messages.usage import correct_counts, include_thoughts
from carob.traces.messages.withheld import hide_markers, is_withheld, withhold
from carob.traces.shape import decode_json, to_integer

SpanRole = Literal["agent", "workflow", "chain", "model", "tool", "retriever", "guardrail", "skip"]
"""`workflow` is a span around the agents of a turn, `chain` any step with input and output. What
runs in a `guardrail` does not answer the user. The spans below `skip` are not part of the agent's
work."""


class SpanMarks(NamedTuple):
    """How to recognize the spans of a convention; the fields are tried in this order."""

    own_scopes: tuple[str, ...] = ()
    """Instrumentation scopes of a framework that writes the attributes of other conventions."""
    attributes: tuple[str, ...] = ()
    """Attributes that only this convention writes, whatever else the span carries."""
    scopes: tuple[str, ...] = ()
    """Instrumentation scopes, for spans with `gen_ai.operation.name` or without other marks."""
    systems: tuple[str, ...] = ()
    """Values of `gen_ai.provider.name` or `gen_ai.system`, for spans with an operation."""
    operation_attributes: tuple[str, ...] = ()
    """Attributes that identify spans with an operation where the scope is lost."""
    late_attributes: tuple[str, ...] = ()
    """Attributes that identify spans without an operation."""
    yields_to_scope: bool = False
    """Whether a known scope outranks `late_attributes`: Langfuse adds its attributes to the spans
    of every framework."""
    last_scopes: tuple[str, ...] = ()
    """Scopes for spans that nothing above identifies; `name*` matches a prefix."""
    last_attributes: tuple[str, ...] = ()
    last_systems: tuple[str, ...] = ()
    last_names: tuple[str, ...] = ()
    """Prefixes of span names, for spans beside others that something above identifies: some
    frameworks write spans without any attribute."""


class TokenKeys(NamedTuple):
    """The attributes that count each kind of token, in order of preference."""

    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: tuple[str, ...] = ()


_NAME_FIELDS = ("agent_names", "tool_names", "graph_paths")
"""Keys that name different things by convention: OpenLLMetry's entity may be a whole workflow."""
_KEY_FIELDS = (
    "models",
    "providers",
    "finishes",
    "conversations",
    "tool_ids",
    "tool_args",
    "tool_results",
)
_SOURCE_FIELDS = {
    "inputs": "inputs",
    "outputs": "outputs",
    "transcripts": "transcripts",
    "model_inputs": "inputs",
    "model_outputs": "outputs",
}
"""The sources of messages, and where conventions have them that do not list any."""
_RESPONSE_IDS = ("gen_ai.response.id", "output.value")
"""Attributes that may hold the id of a model's response."""
_EMPTY_OUTPUTS = ("{}", "[]", "null")


class Convention:
    """A semantic convention; subclasses state the sources of its fields."""

    name: ClassVar[str]
    version: ClassVar[int] = 1  # bump when the same spans would give another trace
    marks: ClassVar[SpanMarks] = SpanMarks()
    """Not inherited: a subclass without marks of its own is never detected."""

    agent_names: ClassVar[tuple[str, ...]] = ()
    models: ClassVar[tuple[str, ...]] = ()
    providers: ClassVar[tuple[str, ...]] = ()
    finishes: ClassVar[tuple[str, ...]] = ()
    conversations: ClassVar[tuple[str, ...]] = ()
    tokens: ClassVar[TokenKeys] = TokenKeys()
    cached_beside_input: ClassVar[bool] = False
    """Whether cached tokens are not part of the input tokens, if the counts do not show it."""
    inputs: ClassVar[tuple[MessageSource, ...]] = ()
    outputs: ClassVar[tuple[MessageSource, ...]] = ()
    transcripts: ClassVar[tuple[MessageSource, ...]] = ()
    """The messages of a whole run, read only if no other source has an answer."""
    model_inputs: ClassVar[tuple[MessageSource, ...]] = ()
    model_outputs: ClassVar[tuple[MessageSource, ...]] = ()
    """The sources of model calls, where they differ from those of agents."""
    graph_paths: ClassVar[tuple[str, ...]] = ()
    """Attributes that hold the path of the step of LangGraph that a span belongs to."""
    tool_names: ClassVar[tuple[str, ...]] = ()
    tool_ids: ClassVar[tuple[str, ...]] = ()
    tool_args: ClassVar[tuple[str, ...]] = ()
    tool_results: ClassVar[tuple[str, ...]] = ()
    usage_keys: ClassVar[tuple[str, ...]] = ()
    """Attributes that hold all counts of a span in one object."""
    has_response_id: bool = True
    """Whether a model's span may hold the id of its response."""
    counts_tokens: bool = True
    """Whether a span may count tokens."""
    is_guess: bool = False
    """Whether only the name of a span suggests the convention."""
    others: tuple[Convention, ...] = ()
    """The other conventions that mark the same span, in order of preference."""

    @property
    def mapper(self) -> str:
        """The name and version that a trace records."""
        return f"{self.name}@{self.version}"

    def narrow(self, attributes: Container[str], others: Sequence[Convention] = ()) -> Convention:
        """Return a copy for spans with exactly these attributes, without the sources they lack.

        A convention has dozens of sources, and a span has two or three of them. Spans of a shape
        share one narrowed copy, so the absent sources are only looked up for the first of them.
        The sources of the other conventions that mark the span follow those of this one.
        """
        narrowed = copy(self)
        fields = vars(narrowed)
        for name in _NAME_FIELDS:
            fields[name] = tuple(key for key in getattr(self, name) if key in attributes)
        for name in _KEY_FIELDS:
            keys = [key for convention in (self, *others) for key in getattr(convention, name)]
            fields[name] = tuple(key for key in dict.fromkeys(keys) if key in attributes)
        for name, usual in _SOURCE_FIELDS.items():
            sources = self._merge_sources(name, usual, others)
            fields[name] = tuple(source for source in sources if source.may_exist(attributes))
        kinds = zip(self.tokens, *(convention.tokens for convention in others), strict=True)
        fields["tokens"] = TokenKeys(
            *(tuple(key for keys in kind for key in keys if key in attributes) for kind in kinds)
        )
        fields["has_response_id"] = any(key in attributes for key in _RESPONSE_IDS)
        fields["others"] = tuple(
            convention.narrow(attributes)
            for convention in others
            if any(key in attributes for key in convention.usage_keys)
        )
        fields["counts_tokens"] = bool(
            any(narrowed.tokens)
            or narrowed.others
            or any(key in attributes for key in self.usage_keys)
        )
        return narrowed

    def _merge_sources(
        self, name: str, usual: str, others: Sequence[Convention]
    ) -> list[MessageSource]:
        sources: list[MessageSource] = list(getattr(self, name))
        known = {source.key for source in sources}
        if name != usual and not sources:  # the usual sources are read then
            return sources
        for convention in others:
            for source in getattr(convention, name) or getattr(convention, usual):
                if source.key not in known:
                    known.add(source.key)
                    sources.append(source)
        return sources

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Rearrange the spans of a trace before they are mapped; `None` keeps them as they are."""
        return None

    def role(self, span: Span) -> SpanRole | None:
        """Return the role of a span; `None` if it has none."""
        raise NotImplementedError

    def common_role(self, span: Span) -> SpanRole | None:
        """Return the role of all spans with this operation and these attributes, if it is one."""
        return None

    def agent_name(self, span: Span) -> str | None:
        """Return the name of the agent."""
        return first_text(span.attributes, self.agent_names)

    def graph_path(self, span: Span) -> str | None:
        """Return the path of the step of LangGraph that a span belongs to."""
        return first_text(span.attributes, self.graph_paths)

    def worker_name(self, span: Span) -> str | None:
        """Return the agent that a span says it works for: the node whose graph it is a step of."""
        path = self.graph_path(span) if self.graph_paths else None
        return None if path is None else graph_node(path)

    def step_agent(self, span: Span) -> str | None:
        """Return the agent that a step of a workflow runs."""
        return None

    def inner_agent_name(self, span: Span) -> str | None:
        """Return the name of an agent that is only recognizable inside another agent's run."""
        return None

    def model_name(self, span: Span) -> str | None:
        """Return the name of the model."""
        # Called for every model call, so `first_text` is inlined: the call would double the time.
        for key in self.models:
            value = span.attributes.get(key)
            if value and isinstance(value, str) and value != "unknown":  # so writes OpenLLMetry
                return value
        return None

    def provider_name(self, span: Span) -> str | None:
        """Return the provider of the model."""
        for key in self.providers:
            value = span.attributes.get(key)
            if value and isinstance(value, str):
                return value
        return None

    def finish_reason(self, span: Span) -> str | None:
        """Return why the model stopped."""
        for key in self.finishes:
            value = decode_json(span.attributes.get(key))
            if isinstance(value, list) and value:
                value = value[0]
            if isinstance(value, str) and value:
                return value
        return None

    def usage(self, span: Span) -> Usage:
        """Return the token counts of a span."""
        counts = span.attributes
        inputs, outputs, cached, cache_write, reasoning, total = self.tokens
        usage = Usage(
            first_integer(counts, inputs) if inputs else None,
            first_integer(counts, outputs) if outputs else None,
            first_integer(counts, cached) if cached else None,
            first_integer(counts, cache_write) if cache_write else None,
            first_integer(counts, reasoning) if reasoning else None,
            total_tokens=first_integer(counts, total) if total else None,
        )
        usage = correct_counts(usage, span.scope, beside=self.cached_beside_input)
        if usage.total_tokens is not None and usage.reasoning_tokens is None:
            return include_thoughts(usage, self.provider_name(span) or self.model_name(span))
        return usage

    def counts_all_runs(self, span: Span) -> bool:
        """Whether a span counts the tokens of all runs so far, not only of its own."""
        return False

    def counts_own_calls(self, span: Span) -> bool:
        """Whether a span counts no tokens of other agents that run within it."""
        return False

    def grounding(self, span: Span) -> Sequence[Json]:
        """Return the retrieved chunks that a model's answer is based on."""
        return ()

    def input_messages(self, span: Span) -> tuple[str, list[Message]] | None:
        """Return the messages that the span received, and the key of their source."""
        return _first_messages(span, self.input_sources(span))

    def output_messages(self, span: Span) -> tuple[str, list[Message]] | None:
        """Return the messages that the span returned, preferring a source that is not empty."""
        empty = None
        for source in self.output_sources(span):
            messages = source.read(span)
            if messages:
                for message in hide_markers(messages):
                    if message.text or message.calls or message.results:
                        return source.key, messages
                empty = empty or (source.key, messages)
        return empty

    def user_text(self, span: Span) -> tuple[str, str] | None:
        """Return the user's last text, and the key of its source."""
        for source in self.input_sources(span):
            messages = source.read_last(span, "user") if source.read_last else source.read(span)
            if messages and (text := asked_text(hide_markers(messages))) is not None:
                return source.key, text
        return None

    def response_text(self, span: Span) -> tuple[str, str] | None:
        """Return the last answer, and the key of its source."""
        empty = None
        for source in self.output_sources(span):
            read_last = source.read_last
            messages = read_last(span, "assistant") if read_last else source.read(span)
            text = last_answer(hide_markers(messages)) if messages else None
            if text:
                return source.key, text
            if text is not None:
                empty = empty or (source.key, text)
        return empty

    def input_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return the sources of input, where they depend on the span."""
        return self.inputs

    def output_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return the sources of output, where they depend on the span."""
        return self.outputs

    def transcript_messages(self, span: Span) -> tuple[str, list[Message]] | None:
        """Return the messages of the whole run, and the key of their source."""
        return _first_messages(span, self.transcripts)

    def raw_output(self, span: Span) -> tuple[str, str] | None:
        """Return an output that is not a message, such as a structured result."""
        for source in self.output_sources(span):
            value = span.attributes.get(source.key)
            if isinstance(value, str) and value and value not in _EMPTY_OUTPUTS:
                if is_withheld(value):
                    continue
                messages = source.read(span) or ()
                # What is a message to one source is not a text to the next one.
                if any(message.calls or message.results for message in messages):
                    return None
                if any(message.text is not None for message in messages):
                    continue
                if messages:  # an answer without a text, which is no other output
                    return None
                return source.key, value
        return None

    def tool(self, span: Span) -> ToolSpan:
        """Return the call that a tool's span executes."""
        attributes = span.attributes
        args = args_key = output = output_key = None
        for args_key in self.tool_args:
            args = withhold(attributes.get(args_key))
            if args is not None:
                break
        for output_key in self.tool_results:
            value = withhold(attributes.get(output_key))
            if value is not None:
                output = unwrap_output(value)
                break
        call_id = first_text(attributes, self.tool_ids) or (output.id if output else None)
        return ToolSpan(self.tool_name(span), call_id, args, output, args_key, output_key)

    def tool_name(self, span: Span) -> str | None:
        """Return the name of the tool."""
        return first_text(span.attributes, self.tool_names)

    def conversation_id(self, span: Span) -> str | None:
        """Return the id that all traces of a conversation share."""
        return first_text(span.attributes, self.conversations)


def first_text(attributes: dict[str, Json], keys: tuple[str, ...]) -> str | None:
    """Return the first of several attributes that is a text and not empty."""
    for key in keys:
        value = attributes.get(key)
        if value and isinstance(value, str):
            return value
    return None


def first_integer(attributes: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    """Return the first of several attributes that is a whole number."""
    for key in keys:
        value = attributes.get(key)
        if type(value) is int:
            return value
        if value is not None and (number := to_integer(value)) is not None:
            return number
    return None


def _first_messages(
    span: Span, sources: tuple[MessageSource, ...]
) -> tuple[str, list[Message]] | None:
    for source in sources:
        messages = source.read(span)
        if messages:
            return source.key, hide_markers(messages)
    return None
