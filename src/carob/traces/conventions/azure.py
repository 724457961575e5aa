"""Azure AI Foundry's agents: runs on a thread, and client calls that record their messages.

Only a streaming run records its own messages. For other runs, `create_message` before the run has
the user's message; `list_messages`, `list_run_steps` and `submit_tool_outputs` have the rest.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, SpanEvent
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import MessageSource
from carob.traces.messages import events
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import Message, Role
from carob.traces.shape import text_or_none

_OPERATION, _THREAD, _RUN = "gen_ai.operation.name", "gen_ai.thread.id", "gen_ai.thread.run.id"
_RUNS = ("process_thread_run", "start_thread_run")
_BEFORE = ("create_thread", "create_message")
_AFTER = ("list_run_steps", "submit_tool_outputs", "list_messages")
_RUN_EVENTS: dict[str, Role] = {
    "gen_ai.assistant.message": "assistant",
    "gen_ai.run_step.tool_calls": "assistant",
    "gen_ai.tool.message": "tool",
}
_CONTENT_KEYS = frozenset(("content", "tool_calls"))


def _read_run(span: Span) -> list[Message] | None:
    """Read the agent's own messages from events that in other conventions are history."""
    messages: list[Message] = []
    for event in span.events:
        role = _RUN_EVENTS.get(event.name)
        fields = events.event_fields(event) if role is not None else {}
        if role is not None and not _CONTENT_KEYS.isdisjoint(fields):
            messages.append(read_message(fields, role))
    return messages or None


def _read_questions(span: Span) -> list[Message] | None:
    """Read what the user wrote; on a run, all other messages are what the agent did."""
    messages = events.read_input(span) or ()
    return [message for message in messages if message.role == "user"] or None


class AzureAgents(GenAi):
    """Azure AI Foundry's agents."""

    name: ClassVar[str] = "azure-agents"
    marks: ClassVar = SpanMarks(systems=("az.ai.agents",))

    agent_names: ClassVar = (*GenAi.agent_names, "gen_ai.agent.id")
    inputs: ClassVar = (*GenAi.inputs[:2], MessageSource("events", _read_questions))
    outputs: ClassVar = (*GenAi.outputs, MessageSource("events", _read_run))

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation; the client calls around a run have no role."""
        return "agent" if span.attributes.get(_OPERATION) in _RUNS else super().role(span)

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Move everything that other spans record of a run to the run itself."""
        return _gather_events(spans)


class Foundry(GenAi):
    """Foundry's agents behind the Responses API, where each invocation is one model call."""

    name: ClassVar[str] = "azure-foundry"
    marks: ClassVar = SpanMarks(systems=("microsoft.foundry",))

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation; invocations that Azure's own client records are model calls."""
        role = super().role(span)
        return "model" if role == "agent" and "az.namespace" in span.attributes else role


class _Runs:
    """The runs on one thread, in order of start."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.starts: list[int] = []
        self.by_id: dict[Json, Span] = {}

    def add(self, span: Span) -> None:
        self.spans.append(span)
        self.starts.append(span.start or 0)
        self.by_id.setdefault(_text(span, _RUN), span)

    def find_run(self, span: Span, event: SpanEvent) -> Span | None:
        """Return the run that an event belongs to: the one it names, else the next or the last."""
        if run_id := text_or_none(event.attributes.get(_RUN)) or _text(span, _RUN):
            return self.by_id.get(run_id)
        start = span.start or 0
        if span.attributes.get(_OPERATION) in _BEFORE:
            index = bisect_left(self.starts, start)
            return self.spans[index] if index < len(self.spans) else None
        if event.name == "gen_ai.user.message":  # of any turn of the thread
            return None
        index = bisect_right(self.starts, start)
        return self.spans[index - 1] if index else None


def _gather_events(spans: Sequence[Span]) -> list[Span]:
    """Return the spans with the events of each run on the run itself.

    A run that was started and then waited for has a span for each; only the outer one counts.
    """
    whole = {span.span_id for span in spans if span.attributes.get(_OPERATION) == _RUNS[0]}
    spans = [
        span
        for span in spans
        if span.parent_id not in whole or span.attributes.get(_OPERATION) != _RUNS[1]
    ]
    threads: defaultdict[str, _Runs] = defaultdict(_Runs)
    for span in sorted(spans, key=lambda span: span.start or 0):
        if span.attributes.get(_OPERATION) in _RUNS:
            threads[_text(span, _THREAD)].add(span)
    by_run: dict[str, dict[str, SpanEvent]] = {}
    for span, event in _client_events(spans):
        run = threads[_text(span, _THREAD)].find_run(span, event)
        if run is not None:
            run_events = by_run.get(run.span_id)
            if run_events is None:
                run_events = {_event_key(event): event for event in run.events}
                by_run[run.span_id] = run_events
            run_events.setdefault(_event_key(event), event)
    return [_with_events(span, by_run.get(span.span_id)) for span in spans]


def _with_events(span: Span, events: dict[str, SpanEvent] | None) -> Span:
    return span if events is None else msgspec.structs.replace(span, events=tuple(events.values()))


def _client_events(spans: Sequence[Span]) -> Iterator[tuple[Span, SpanEvent]]:
    """The events of client calls, in order of time; lists begin with the latest message."""
    for operation in (*_BEFORE, *_AFTER):
        for span in spans:
            if span.attributes.get(_OPERATION) == operation:
                is_list = operation.startswith("list_")
                for event in reversed(span.events) if is_list else span.events:
                    yield span, event


def _event_key(event: SpanEvent) -> str:
    """Return a key that is equal for the copies of one event in several client calls."""
    return text_or_none(event.attributes.get("gen_ai.message.id")) or repr(event.attributes)


def _text(span: Span, key: str) -> str:
    return text_or_none(span.attributes.get(key)) or ""
