"""Spans of a live agent, joined to the turns that caused them by their trace ids.

Each turn is sent with a trace id of its own, so that a span belongs to exactly one turn. What spans
say is believed before the session document, and that before the replies.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from threading import Lock
from typing import Any, Protocol

import msgspec

from carob.lazy import load_object
from carob.schema import Problem, Span, Trace, Turn
from carob.targets.conversation import join_turn
from carob.traces.containers.container import LogRecord
from carob.traces.containers.flat import span_of
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import assemble

_POLL = 0.2
_MAX_TRACES = 20_000
"""Traces of this process that are remembered until somebody asks for them."""


class SpanSource(Protocol):
    """Where spans arrive."""

    def find(self, trace_ids: Sequence[str]) -> Sequence[Span | LogRecord]:
        """Return the records of these traces that have arrived so far."""
        ...


class SpanJoiner:
    """Waits a bounded time for the spans of a conversation, and joins them to its turns."""

    def __init__(self, sources: Sequence[SpanSource], wait: float) -> None:
        self._sources, self._wait = sources, wait

    async def join(self, trace: Trace, trace_ids: Sequence[str]) -> Trace:
        """Return the trace with what its spans say; as it is if none arrive."""
        by_turn = await self._collect(trace_ids[: len(trace.turns)])
        turns: list[Turn] = []
        joined: set[str] = set()
        for turn, trace_id in zip(trace.turns, trace_ids, strict=False):
            spans = by_turn.get(trace_id)
            recorded = next(iter(to_traces(spans)), None) if spans else None
            if recorded is None or len(recorded.turns) != 1:
                turns.append(turn)
                continue
            turns.append(join_turn(turn, recorded.turns[0]))
            joined |= _filled_fields(recorded.turns[0])
        if not joined:
            return trace
        sources = {**trace.sources, **{f"turns.{name}": "spans" for name in sorted(joined)}}
        return msgspec.structs.replace(trace, turns=tuple(turns), sources=sources)

    async def _collect(self, trace_ids: Sequence[str]) -> dict[str, tuple[Span, ...]]:
        """Wait until every turn has spans and no more arrive, or the time is over."""
        deadline, known = time.monotonic() + self._wait, -1
        while True:
            records = [
                record
                for source in self._sources
                for record in await asyncio.to_thread(source.find, trace_ids)
            ]
            traces = {record.trace_id for record in records}
            # Exporters send in batches, and the root span ends last: only when a second look finds
            # no more is a turn complete.
            settled = traces >= set(trace_ids) and len(records) == known
            if settled or time.monotonic() >= deadline:
                problems: list[Problem] = []
                return assemble(records, source="spans", report=problems.append)
            known = len(records)
            await asyncio.sleep(_POLL)


def _filled_fields(turn: Turn) -> set[str]:
    return {name for name in Turn.__struct_fields__ if getattr(turn, name) not in (None, ())}


class ProcessSpans:
    """Spans that end in this process. Needs the SDK of OpenTelemetry."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spans: dict[str, list[Span]] = {}

    @classmethod
    def install(cls) -> ProcessSpans | None:
        """Listen to the tracer provider of the program, or set one if it has none. Returns `None`
        without the SDK: the agent cannot record spans in this process then."""
        try:
            get_provider: Any = load_object("opentelemetry.trace:get_tracer_provider")
            set_provider: Any = load_object("opentelemetry.trace:set_tracer_provider")
            make_provider: Any = load_object("opentelemetry.sdk.trace:TracerProvider")
        except ModuleNotFoundError:
            return None
        provider = get_provider()
        if not hasattr(provider, "add_span_processor"):  # none was set; it can be set only once
            provider = make_provider()
            set_provider(provider)
        spans = cls()
        base: Any = load_object("opentelemetry.sdk.trace:SpanProcessor")

        class SpanListener(base):
            """Hands over every span that ends."""

            def on_end(self, span: Any) -> None:
                """Remember a span."""
                spans.add(span_of(msgspec.json.decode(span.to_json())))

        provider.add_span_processor(SpanListener())
        return spans

    def add(self, span: Span) -> None:
        """Remember a span."""
        with self._lock:
            # The oldest trace goes: a program that serves users, too, would keep theirs for good.
            if len(self._spans) >= _MAX_TRACES and span.trace_id not in self._spans:
                self._spans.pop(next(iter(self._spans)))
            self._spans.setdefault(span.trace_id, []).append(span)

    def find(self, trace_ids: Sequence[str]) -> Sequence[Span | LogRecord]:
        """Return the spans of these traces that have ended."""
        with self._lock:
            return [span for name in trace_ids for span in self._spans.get(name, ())]
