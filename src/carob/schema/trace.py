"""Traces: what an agent did, from single spans to the turns of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from carob.schema.base import Json, Struct
from carob.schema.outcome import Failed
from carob.schema.problem import Loss, Problem


class SpanEvent(Struct, frozen=True):
    """An event within a span: a span event, or a log record that belongs to the span."""

    name: str
    time: int | None = None
    """Unix time in nanoseconds."""
    attributes: dict[str, Json] = {}
    body: Json = None
    """The body of a log record."""


class Span(Struct, frozen=True):
    """One operation that an instrumentation recorded, independent of the container."""

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str = "internal"
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None
    attributes: dict[str, Json] = {}
    events: tuple[SpanEvent, ...] = ()
    status: Literal["unset", "ok", "error"] = "unset"
    status_message: str | None = None
    scope: str = ""
    scope_version: str = ""
    resource: dict[str, Json] = {}


class ToolCall(Struct, frozen=True):
    """A tool call that golden data expects or that an agent made."""

    name: str
    args: Json = None
    """`None` is "not stated" or "not recorded"; `{}` is a call without arguments."""
    id: str | None = None
    agent: str | None = None
    """The agent that makes the call, if known."""
    reason: str | None = None
    """Why golden data expects the call."""
    outcome: str | None = None
    """The outcome of the call, in the words of the instrumentation."""
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None


ResultOrigin: TypeAlias = Literal["mocked", "live", "missed"]
"""A recorded result, that of the real tool, or none: the mocks of a live run had no result."""


class ToolResult(Struct, frozen=True):
    """The result of a tool call."""

    name: str | None = None
    id: str | None = None
    result: Json = None
    error: str | None = None
    origin: ResultOrigin | None = None
    """Where the result came from, in a live run with tool mocks."""


class Usage(Struct, frozen=True):
    """Tokens of one or more model calls; `None` is "not recorded".

    Cached tokens are part of the input tokens. Reasoning tokens are part of the output tokens.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    tool_tokens: int | None = None
    """Tokens of tool results in the prompt, if a provider bills them separately."""
    total_tokens: int | None = None

    @classmethod
    def total(cls, parts: Iterable[Usage]) -> Usage:
        """The sum of several usages; counts that no part recorded stay `None`."""
        sums: dict[str, int] = {}
        for part in parts:
            for field in cls.__struct_fields__:
                tokens: int | None = getattr(part, field)
                if tokens is not None:
                    sums[field] = sums.get(field, 0) + tokens
        return cls(**sums)


class ModelCall(Struct, frozen=True):
    """One model call, counted once even if several spans recorded it."""

    model: str | None = None
    provider: str | None = None
    usage: Usage = Usage()
    agent: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None


class Rubric(Struct, frozen=True):
    """One property that an answer should have, for a judge to check."""

    id: str
    text: str
    description: str | None = None
    type: str | None = None


class AgentMessage(Struct, frozen=True):
    """An intermediate message of an agent before the response."""

    agent: str
    text: str


class Turn(Struct, frozen=True):
    """One user message with the expected or the actual reaction.

    `None` means "not stated" in golden data and "not recorded" in a trace. Empty means none.
    """

    user: str | None = None
    response: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_results: tuple[ToolResult, ...] = ()
    messages: tuple[AgentMessage, ...] = ()
    agents: tuple[str, ...] = ()
    """The agents in the order in which they took over; returning agents are repeated."""
    id: str | None = None
    rubrics: tuple[Rubric, ...] = ()
    app: dict[str, Json] | None = None
    """The agents' instructions and tool declarations, by agent name."""
    model_calls: tuple[ModelCall, ...] = ()
    grounding: tuple[Json, ...] | None = None
    """The retrieved text chunks on which the response is based."""
    error: str | None = None
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None


class Trace(Struct, frozen=True):
    """What the agent did in one session."""

    id: str
    turns: tuple[Turn, ...] = ()
    source: str | None = None
    """The file from which the trace was read."""
    convention: str | None = None
    """The semantic convention of the spans."""
    mapper: str | None = None
    """The mapping that produced the trace and its version, such as `adk@1`."""
    conversation: str | None = None
    """The conversation id that groups traces into a session."""
    case: str | None = None
    """The golden case that the trace names."""
    state: dict[str, Json] | None = None
    """The session state at the end."""
    sources: dict[str, str] = {}
    """The attribute from which each field was read."""
    gaps: dict[str, str] = {}
    """Fields that are known to be missing, with the reason. Metrics that need the field are
    unscored."""
    attributes: dict[str, Json] = {}
    """Other recorded attributes, under their original names."""
    spans: tuple[Span, ...] = ()
    failure: Failed | None = None
    """Why the conversation with a live agent broke off. Nothing is scored then."""

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        return tuple(call for turn in self.turns for call in turn.model_calls)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order of their first call."""
        return tuple(dict.fromkeys(call.model for call in self.model_calls if call.model))

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents in the order of their first turn."""
        return tuple(dict.fromkeys(agent for turn in self.turns for agent in turn.agents))

    @property
    def usage(self) -> Usage:
        """The tokens of all model calls; nothing if it is known that some were not counted."""
        if "usage" in self.gaps:
            return Usage()
        return Usage.total(call.usage for call in self.model_calls)

    @property
    def duration_ms(self) -> float | None:
        """From the start of the first turn to the end of the last; `None` if not recorded."""
        starts = [turn.start for turn in self.turns if turn.start is not None]
        ends = [turn.end for turn in self.turns if turn.end is not None]
        return (max(ends) - min(starts)) / 1e6 if starts and ends else None


class TraceEntry(Struct, frozen=True):
    """A trace and the metrics that it supports."""

    trace: Trace
    supports: dict[str, str | None] = {}
    """By metric: the reason why not, or `None` if it is supported."""


class TraceListing(Struct, frozen=True):
    """The traces in some files."""

    traces: Sequence[TraceEntry] = ()
    """Many entries are read from a file while they are iterated."""
    hints: dict[str, tuple[str, ...]] = {}
    """By the reason why a metric is not supported: how to record the missing data."""
    problems: tuple[Problem, ...] = ()


class CaptureReport(Struct, frozen=True, omit_defaults=False):
    """The result of turning traces into golden cases."""

    format: str
    cases: int
    left_out: int
    """The number of traces excluded by filters."""
    duplicates: tuple[str, ...] = ()
    """Traces that duplicate another one."""
    problems: tuple[Problem, ...] = ()
    losses: Sequence[Loss] = ()
    """Fields without equivalent in the format, which are preserved for round-tripping."""
