"""The traces that were read, and what was read beside them; those of several processes merge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import msgspec

from carob.schema import Problem
from carob.schema.codec import CompactCodec
from carob.traces.reading.stream import FileRange
from carob.traces.reading.trace_table import (
    CollectedTrace,
    SilentTrace,
    TraceTable,
    find_silent,
    have_turns,
)


class Collection(msgspec.Struct):
    """The traces of one or more chunks, and the counts of records that belong to none."""

    spans: MutableMapping[str, CollectedTrace] = msgspec.field(
        default_factory=dict[str, CollectedTrace]
    )
    """Traces that came as spans, by trace id."""
    ready_traces: list[CollectedTrace] = []
    """Traces that came as traces, such as chat files and sessions."""
    problems: list[Problem] = []
    late: dict[str, tuple[FileRange, ...]] = {}
    """Traces that must be read again, and their ranges."""
    orphan_logs: int = 0
    """Log records without a span."""
    untraced_spans: int = 0
    """Spans without a trace id. Read as one trace, those of two runs would be mixed."""
    log_only_traces: int = 0
    """Traces that are known from log records alone."""
    idle_names: dict[str, int] = {}
    """Names of spans under which no agent worked, and how often they were seen."""
    idle_keys: dict[str, int] = {}
    """The attributes of these spans, and how often they were seen."""

    def __reduce__(self) -> tuple[Callable[..., Collection], tuple[object, ...]]:
        """Encode the traces for another process ten times as fast as pickle would."""
        _, _, *rest = msgspec.structs.astuple(self)
        traces = [*self.spans.values()], self.ready_traces
        return _restore, (*map(_TRACES.encode, traces), *rest)

    def silent(self) -> Iterator[SilentTrace]:
        """The traces without an agent, and those in which nothing was said or done."""
        spans = self.spans
        yield from spans.silent() if isinstance(spans, TraceTable) else find_silent(spans.values())
        yield from find_silent(self.ready_traces)

    def has_turns(self) -> bool:
        """Whether any trace has a turn."""
        spans = self.spans
        found = spans.has_turns() if isinstance(spans, TraceTable) else have_turns(spans.values())
        return found or have_turns(self.ready_traces)

    def merge(self, addition: Collection) -> None:
        """Add what another process has read; a trace that both have seen is read again."""
        for key, ranges in addition.late.items():
            self.add_late(key, ranges)
        for key, trace in addition.spans.items():
            if key in self.spans or key in self.late:
                self.add_late(key, trace.ranges)
            else:
                self.spans[key] = trace
        self.ready_traces += addition.ready_traces
        self.orphan_logs += addition.orphan_logs
        self.untraced_spans += addition.untraced_spans
        self.log_only_traces += addition.log_only_traces
        for counts, added in (
            (self.idle_names, addition.idle_names),
            (self.idle_keys, addition.idle_keys),
        ):
            for name, count in added.items():
                counts[name] = counts.get(name, 0) + count

    def add_late(self, key: str, ranges: tuple[FileRange, ...]) -> None:
        """Note that these ranges hold more of a trace."""
        earlier = self.spans.pop(key, None)
        before = earlier.ranges if earlier else self.late.get(key, ())
        self.late[key] = (*before, *ranges)


_TRACES = CompactCodec(list[CollectedTrace])


def _restore(spans: bytes, ready_traces: bytes, *rest: Any) -> Collection:
    traces = {trace.id: trace for trace in _TRACES.decode(spans)}
    return Collection(traces, _TRACES.decode(ready_traces), *rest)
