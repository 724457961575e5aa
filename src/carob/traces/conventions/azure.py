"""Azure AI Foundry's agents: a run on a thread, and around it calls that tell what was said.

Only a run that streams tells its messages itself. Of another, `create_message` before it tells what
the user said, and `list_messages`, `list_run_steps` and `submit_tool_outputs` what the agent did.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, SpanEvent
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import MessageSource, SpanMarks, SpanRole
from carob.traces.messages import events
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import Message, Role
from carob.traces.shape import text_or_none

_OPERATION, _THREAD, _RUN = "gen_ai.operation.name", "gen_ai.thread.id", "gen_ai.thread.run.id"
_RUNS = ("process_thread_run", "start_thread_run")
_BEFORE = ("create_thread", "create_message")
_AFTER = ("list_run_steps", "submit_tool_outputs", "list_messages")
_DONE: dict[str, Role] = {
    "gen_ai.assistant.message": "assistant",
    "gen_ai.run_step.tool_calls": "assistant",
    "gen_ai.tool.message": "tool",
}
_SAYING = frozenset(("content", "tool_calls"))


def _done(span: Span) -> list[Message] | None:
    """What the agent did: messages that elsewhere would be history."""
    told = [
        (event.name, events.event_fields(event)) for event in span.events if event.name in _DONE
    ]
    found = [read_message(held, _DONE[name]) for name, held in told if not _SAYING.isdisjoint(held)]
    return found or None


class AzureAgents(GenAi):
    """Azure AI Foundry's agents."""

    name: ClassVar[str] = "azure-agents"
    marks: ClassVar = SpanMarks(systems=("az.ai.agents",))

    outputs: ClassVar = (*GenAi.outputs, MessageSource("events", _done))

    def role(self, span: Span) -> SpanRole | None:
        """By the operation; the calls around a run are no work."""
        return "agent" if span.attributes.get(_OPERATION) in _RUNS else super().role(span)

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span]:
        """Move everything that other spans record of a run to the run itself."""
        return gathered(spans)


class Foundry(GenAi):
    """Foundry's agents behind the Responses API, where each invocation is one model call."""

    name: ClassVar[str] = "azure-foundry"
    marks: ClassVar = SpanMarks(systems=("microsoft.foundry",))

    def role(self, span: Span) -> SpanRole | None:
        """By the operation, unless another than Azure's own client tells of the agent."""
        role = super().role(span)
        return "model" if role == "agent" and "az.namespace" in span.attributes else role


class _Runs:
    """The runs on one thread, in the order of their start."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.starts: list[int] = []
        self.named: dict[Json, Span] = {}

    def add(self, span: Span) -> None:
        self.spans.append(span)
        self.starts.append(span.start or 0)
        self.named.setdefault(_text(span, _RUN), span)

    def told_by(self, span: Span, event: SpanEvent) -> Span | None:
        """The run that an event tells of: the one that it names, else the next or the last one."""
        if named := text_or_none(event.attributes.get(_RUN)) or _text(span, _RUN):
            return self.named.get(named)
        start = span.start or 0
        if span.attributes.get(_OPERATION) in _BEFORE:
            at = bisect_left(self.starts, start)
            return self.spans[at] if at < len(self.spans) else None
        if event.name == "gen_ai.user.message":  # of any turn of the thread
            return None
        at = bisect_right(self.starts, start)
        return self.spans[at - 1] if at else None


def gathered(spans: Sequence[Span]) -> list[Span]:
    """The spans with all that is told of a run on the run itself, which is one even if it is told
    both that it was started and that it was waited for."""
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
    told: dict[str, dict[str, SpanEvent]] = {}
    for span, event in _told(spans):
        run = threads[_text(span, _THREAD)].told_by(span, event)
        if run is not None:
            known = told.get(run.span_id)
            if known is None:
                known = told[run.span_id] = {_key(one): one for one in run.events}
            known.setdefault(_key(event), event)
    return [_with_events(span, told.get(span.span_id)) for span in spans]


def _with_events(span: Span, told: dict[str, SpanEvent] | None) -> Span:
    return span if told is None else msgspec.structs.replace(span, events=tuple(told.values()))


def _told(spans: Sequence[Span]) -> Iterator[tuple[Span, SpanEvent]]:
    """What others tell of runs, in the order in which it was said; lists begin with the latest."""
    for operation in (*_BEFORE, *_AFTER):
        for span in spans:
            if span.attributes.get(_OPERATION) == operation:
                is_list = operation.startswith("list_")
                for event in reversed(span.events) if is_list else span.events:
                    yield span, event


def _key(event: SpanEvent) -> str:
    """The same for what is told twice."""
    return text_or_none(event.attributes.get("gen_ai.message.id")) or repr(event.attributes)


def _text(span: Span, key: str) -> str:
    return text_or_none(span.attributes.get(key)) or ""
