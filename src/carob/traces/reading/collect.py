"""Group the records of many files into traces, in memory that does not grow with the input.

The spans of a trace are held until no more of them have come for a while; then the trace is mapped
and stored. If more of it comes later, all of it is read again from its ranges at the end. So the
result does not depend on the order of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from hashlib import blake2b
from itertools import takewhile

from carob.schema import Span, Trace, Turn, Usage
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers.container import LogRecord, Record
from carob.traces.containers.otlp import Records
from carob.traces.conventions.hints import span_convention
from carob.traces.mapping.delegation import DELEGATED_BY
from carob.traces.mapping.sessions import TURN_NUMBER
from carob.traces.reading.assemble import order_if_complete, spans_of
from carob.traces.reading.collection import Collection
from carob.traces.reading.spill import Spill, TraceSlot
from carob.traces.reading.stream import Chunk, FileRange, RecordStream, reread
from carob.traces.reading.trace_table import (
    CollectedTrace,
)
from carob.traces.shape import as_count, as_text

MAX_HELD = 8 << 20
"""Bytes of input whose spans may be held at once."""
MAX_IN_MEMORY = 32 << 20
"""Bytes of input whose traces stay in memory; later ones are spilled to disk."""
PROGRESS_STEP = 4 << 20
"""Bytes of input between two calls of the progress listener."""

_MIN_WINDOW = 64 << 10
_MAX_NAMES = 1000
_NO_USAGE = Usage()


class _OpenTrace:
    """The records of a trace whose end has not been seen."""

    __slots__ = ("file", "ranges", "records", "size")

    def __init__(self, file: int) -> None:
        self.file = file
        self.records: list[Span | LogRecord] = []
        self.ranges: list[FileRange | None] = []
        self.size = 0


class Collector:
    """Reads chunks into a `Collection`."""

    def __init__(
        self,
        files: Sequence[Chunk],
        spill: Spill,
        report: ProblemListener,
        *,
        keep_spans: bool,
        max_in_memory: int,
        spans: MutableMapping[str, CollectedTrace] | None = None,
    ) -> None:
        self.files = files
        self.spill = spill
        self.report = report
        self.keep_spans = keep_spans
        self.max_in_memory = max_in_memory
        self.open: dict[str, _OpenTrace] = {}
        """In the order in which they were last touched."""
        self.held = 0
        self.seen = 0
        self.without_range: dict[str, _OpenTrace] = {}
        self.range: FileRange | None = None
        # Bytes of input whose spans are held: none while each trace comes in one piece, and more
        # each time that one does not. Holding spans "just in case" is slower for the usual file,
        # whose traces come in one piece: they would have left the processor's caches.
        self.window = 0
        self.uncharged = 0
        """Bytes of the current value that no open trace accounts for yet."""
        self.collection = Collection() if spans is None else Collection(spans=spans)
        self.progress: Callable[[int], None] = ignore
        """Called now and then with the number of bytes seen."""
        self.reported = 0

    def read(self, chunk: Chunk) -> None:
        """Add the records of a chunk."""
        stream = RecordStream(chunk, self.report)
        range_: FileRange | None = None
        for records in stream.batches():
            if stream.range is not range_:
                range_ = stream.range
                self._start_value(range_)
            self._add(records, range_, chunk.file)

    def _add(self, records: Iterable[Record], range_: FileRange | None, file: int) -> None:
        if isinstance(records, Records) and records.trace_id:
            self._add_single_trace(records.trace_id, records, range_, file)
            return
        last: str | None = None
        group: list[Span | LogRecord] = []
        for record in records:
            if isinstance(record, Trace):
                self._add_ready_trace(record)
                continue
            if not record.trace_id and isinstance(record, Span):
                self.collection.untraced_spans += 1
                continue
            if record.trace_id != last:
                last = record.trace_id
                group = self._touch(last, range_, file).records
            group.append(record)

    def _add_single_trace(
        self, key: str, records: Records, range_: FileRange | None, file: int
    ) -> None:
        """The usual case: a value with records of one trace, and often all of them."""
        collection = self.collection
        is_new = key not in self.open and key not in collection.spans and key not in collection.late
        can_close = is_new and range_ is not None and not self.window
        if can_close and range_ and (spans := order_if_complete(records)):
            self.held -= self.uncharged
            self.uncharged = 0
            collection.spans[key] = self._map(key, spans, file, (range_,))
        else:
            self._touch(key, range_, file).records += records

    def _start_value(self, range_: FileRange | None) -> None:
        """Traces are closed only between values: within one, more spans may follow."""
        if not self.window:
            self._close_complete()
        elif self.held > self.window:
            self._close_oldest()
        self.range = range_
        size = range_.end - range_.start if range_ else 0
        self.seen += size
        self.held += size
        self.uncharged = size
        if self.seen > self.reported + PROGRESS_STEP:
            self.reported = self.seen
            self.progress(self.seen)

    def _touch(self, key: str, range_: FileRange | None, file: int) -> _OpenTrace:
        group = self.open.pop(key, None) or _OpenTrace(file)
        self.open[key] = group
        collection = self.collection
        if self.window < MAX_HELD and (key in collection.spans or key in collection.late):
            # This trace was closed too early: hold more from now on.
            self.window = min(max(2 * self.window, _MIN_WINDOW), MAX_HELD)
        if not group.ranges or group.ranges[-1] is not range_:
            group.ranges.append(range_)
        group.size += self.uncharged
        self.uncharged = 0
        return group

    def _close_complete(self) -> None:
        """Close the traces of the latest value that lack nothing, while they are in the caches."""
        latest = takewhile(
            lambda item: item[1].ranges[-1] is self.range, reversed(self.open.items())
        )
        for key, group in list(latest) if self.range is not None else ():
            if spans := order_if_complete(group.records):
                self._close_open(key, group, spans)
            elif _has_root_and_parents(group.records):
                self._close_open(key, group)
        if self.held > MAX_HELD:
            self._close_oldest()

    def _close_oldest(self) -> None:
        """Close the traces untouched for longest; the latest one is likely to go on."""
        for key, group in list(self.open.items())[:-1]:
            if self.held <= self.window // 2:
                break
            if None not in group.ranges:  # without a range it cannot be read again
                self._close_open(key, group)

    def _close_open(self, key: str, group: _OpenTrace, spans: tuple[Span, ...] = ()) -> None:
        del self.open[key]
        self.held -= group.size
        self._close(key, group, spans)

    def _close(self, key: str, group: _OpenTrace, spans: tuple[Span, ...] = ()) -> None:
        collection, ranges = self.collection, tuple([range_ for range_ in group.ranges if range_])
        is_new = key not in collection.spans and key not in collection.late
        if is_new and (spans or any(isinstance(record, Span) for record in group.records)):
            spans = spans or spans_of(key, group.records)
            collection.spans[key] = self._map(key, spans, group.file, ranges)
        else:
            collection.add_late(key, ranges)

    def finish(self) -> Collection:
        """Close all traces; those without a range wait for `settle`."""
        for key, group in self.open.items():
            if None in group.ranges:
                self.without_range[key] = group
            else:
                self._close(key, group)
        self.open.clear()
        self.spill.flush()
        return self.collection

    def settle(self) -> None:
        """Read the late traces again, and merge the records that have no range."""
        collection = self.collection
        for key in self.without_range.keys() - collection.late.keys():
            trace = collection.spans.pop(key, None)
            collection.late[key] = trace.ranges if trace else ()
        for batch in _batches(collection.late):
            for key, group in self._reread(batch).items():
                self._settle(key, group)
        collection.late, self.without_range = {}, {}
        self.spill.flush()

    def _settle(self, key: str, group: _OpenTrace) -> None:
        trace = self._map(key, spans_of(key, group.records), group.file, ())
        if any(isinstance(record, Span) for record in group.records):
            self.collection.spans[key] = trace
        elif trace.slot is not None:
            self.collection.spans[key] = trace
            self.collection.log_only_traces += 1
        else:
            self.collection.orphan_logs += len(group.records)

    def _reread(self, late: dict[str, tuple[FileRange, ...]]) -> dict[str, _OpenTrace]:
        groups = {key: self.without_range.get(key) or _OpenTrace(len(self.files)) for key in late}
        # In the order of the input, each range once: the records of a trace then come in the same
        # order as if it had never been closed.
        for range_ in sorted({range_ for ranges in late.values() for range_ in ranges}):
            for record in reread(range_, self.files[range_.file]):
                if not isinstance(record, Trace) and (group := groups.get(record.trace_id)):
                    group.records.append(record)
                    group.file = min(group.file, range_.file)
        return groups

    def _map(
        self, key: str, spans: tuple[Span, ...], file: int, ranges: tuple[FileRange, ...]
    ) -> CollectedTrace:
        from carob.traces.mapping.traces import to_traces  # late: a waiting server needs none of it

        source = self.files[file].path
        traces = to_traces(spans, source=source, keep_spans=self.keep_spans) if spans else []
        if not traces:
            self._count_idle(spans)
            return CollectedTrace(key, None, ranges=ranges, is_empty=True)
        trace = traces[0]
        return CollectedTrace(
            key,
            self._store(trace),
            _start(trace),
            trace.conversation,
            ranges,
            blank=_blank_convention(trace),
        )

    def _count_idle(self, spans: Iterable[Span]) -> None:
        names, keys = self.collection.idle_names, self.collection.idle_keys
        for span in spans:
            for name, counts in ((span.name, names), *((key, keys) for key in span.attributes)):
                if name in counts or (name and len(counts) < _MAX_NAMES):
                    counts[name] = counts.get(name, 0) + 1

    def _store(self, trace: Trace) -> TraceSlot:
        return trace if self.seen <= self.max_in_memory else self.spill.put(trace)

    def _add_ready_trace(self, trace: Trace) -> None:
        # Files may be passed twice, or repeat a session: equal content counts once, and other
        # content under the same id is another session (see `group_sessions`).
        digest = blake2b(repr(trace.turns).encode("utf-8", "replace"), digest_size=16).digest()
        self.collection.ready_traces.append(
            CollectedTrace(
                trace.id,
                self._store(trace),
                _start(trace),
                trace.conversation,
                (),
                digest,
                _blank_convention(trace),
                not trace.turns,
                as_text(trace.attributes.get(DELEGATED_BY)),
                self._place(trace) if trace.conversation else "",
            )
        )

    def _place(self, trace: Trace) -> str:
        """The number of the turn, if one is stated, and the position in the file. The name of the
        file stands between them, so that the order in which files are passed plays no part."""
        turn = as_count(trace.attributes.get(TURN_NUMBER)) or 0
        offset = self.range.start if self.range else 0
        position = len(self.collection.ready_traces)
        return f"{turn:012}\0{trace.source}\0{offset:020}\0{position:012}"


def _has_root_and_parents(records: Sequence[Span | LogRecord]) -> bool:
    span_ids = {record.span_id for record in records}
    parents = {record.parent_id for record in records if isinstance(record, Span)}
    return None in parents and parents - {None} <= span_ids


def _blank_convention(trace: Trace) -> str | None:
    return None if any(map(_records_something, trace.turns)) else span_convention(trace)


def _records_something(turn: Turn) -> bool:
    if turn.user or turn.response or turn.tool_calls or turn.tool_results or turn.error:
        return True
    return bool(turn.messages) or any(call.usage != _NO_USAGE for call in turn.model_calls)


def _start(trace: Trace) -> int:
    return min([turn.start for turn in trace.turns if turn.start is not None], default=0)


def _batches(
    late: dict[str, tuple[FileRange, ...]],
) -> Iterator[dict[str, tuple[FileRange, ...]]]:
    """Traces that are near each other in the input, as many as may be held at once.

    Neighbors share ranges: a value that holds spans of a hundred traces is then read once, not a
    hundred times.
    """
    batch: dict[str, tuple[FileRange, ...]] = {}
    shared: set[FileRange] = set()
    size = 0
    for key, ranges in sorted(late.items(), key=lambda item: (item[1][:1], item[0])):
        batch[key] = ranges
        size += sum(range_.end - range_.start for range_ in {*ranges} - shared)
        shared.update(ranges)
        if size > MAX_HELD:
            yield batch
            batch, shared, size = {}, set[FileRange](), 0
    if batch:
        yield batch
