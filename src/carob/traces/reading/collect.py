"""Records of many files → what the agent did in each trace, in memory that does not grow with them.

The spans of a trace are held until its input has been quiet for a while; then it is mapped and put
aside. If more of it comes later, it is read again from its places, all of it, at the end. So the
result is the same in whatever order lines come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import takewhile

import msgspec

from carob.schema import Problem, Span, Trace
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers import LogRecord, Record
from carob.traces.containers.otlp import Records
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import spans_of, whole
from carob.traces.reading.spill import Slot, Spill
from carob.traces.reading.stream import Chunk, Place, Stream, again

HELD = 8 << 20
"""Bytes of input whose spans may be held at a time."""
KEPT = 256 << 20
"""Bytes of input whose traces stay in memory."""

TELLING = 4 << 20
"""Bytes of input between two words of progress."""

_WINDOW = 64 << 10
_MAX_NAMES = 1000


class Found(msgspec.Struct, gc=False):
    """One trace that was understood, or a trace id under which no agent worked."""

    id: str
    slot: Slot | None
    start: int = 0
    conversation: str | None = None
    places: tuple[Place, ...] = ()
    digest: bytes = b""


class _Open:
    """A trace that is being read."""

    __slots__ = ("file", "places", "records", "size")

    def __init__(self, file: int) -> None:
        self.file = file
        self.records: list[Span | LogRecord] = []
        self.places: list[Place | None] = []
        self.size = 0


class Collected(msgspec.Struct):
    """What one or more chunks hold."""

    spans: dict[str, Found] = {}
    """By trace id."""
    told: list[Found] = []
    """Recordings that came as traces, not as spans."""
    problems: list[Problem] = []
    late: dict[str, tuple[Place, ...]] = {}
    """Traces that must be read again, and where they are."""
    lost: int = 0
    """Log records that belong to no span."""
    bare: int = 0
    """Traces that log records alone tell of."""
    idle: dict[str, int] = {}
    """Names of spans under which no agent worked, and how often they were seen."""

    def join(self, other: Collected) -> None:
        """Add what another process has read; what both have seen must be read again."""
        for key, places in other.late.items():
            self.see(key, places)
        for key, found in other.spans.items():
            if key in self.spans or key in self.late:
                self.see(key, found.places)
            else:
                self.spans[key] = found
        self.told += other.told
        self.lost += other.lost
        self.bare += other.bare
        for name, count in other.idle.items():
            self.idle[name] = self.idle.get(name, 0) + count

    def see(self, key: str, places: tuple[Place, ...]) -> None:
        """There is more of a trace at these places."""
        known = self.spans.pop(key, None)
        before = known.places if known else self.late.get(key, ())
        self.late[key] = (*before, *places)


class Collector:
    """Takes records in, gives traces out."""

    def __init__(
        self,
        paths: Sequence[str],
        spill: Spill,
        report: ProblemListener,
        *,
        keep_spans: bool,
        kept: int,
    ) -> None:
        self.paths = paths
        self.spill = spill
        self.report = report
        self.keep_spans = keep_spans
        self.kept = kept
        self.open: dict[str, _Open] = {}
        self.held = 0
        self.seen = 0
        self.rest: dict[str, _Open] = {}
        self.place: Place | None = None
        self.window = 0
        """Bytes of input whose spans are held: none while traces come in one piece, and more each
        time that one does not. What is held for long is no longer in the processor's caches."""
        self.made = Collected()
        self.progress: Callable[[int], None] = ignore
        """Told now and then how many bytes were seen."""
        self.told = 0

    def read(self, chunk: Chunk) -> None:
        """Take in the records of a chunk."""
        stream = Stream(chunk, self.report)
        place: Place | None = None
        for records in stream.batches():
            if stream.place is not place:
                place = stream.place
                self._next(place)
            self._take(records, place, chunk.file)

    def _take(self, records: Iterable[Record], place: Place | None, file: int) -> None:
        if isinstance(records, Records) and records.trace_id is not None:
            self._take_one(records.trace_id, records, place, file)
            return
        last: str | None = None
        held: list[Span | LogRecord] = []
        for record in records:
            if isinstance(record, Trace):
                self._told(record)
                continue
            if record.trace_id != last:
                last = record.trace_id
                held = self._touched(last, place, file).records
            held.append(record)

    def _take_one(self, key: str, records: Records, place: Place | None, file: int) -> None:
        """The usual case: a value that holds records of one trace, and often all of them."""
        made = self.made
        is_new = key not in self.open and key not in made.spans and key not in made.late
        if is_new and place is not None and not self.window and (spans := whole(records)):
            self.held -= self.charge
            self.charge = 0
            made.spans[key] = self._mapped(key, spans, file, (place,))
        else:
            self._touched(key, place, file).records += records

    def _next(self, place: Place | None) -> None:
        """Between values is the time to let go: no span of a value is missing then."""
        if not self.window:
            self._close_whole()
        elif self.held > self.window:
            self._let_go()
        self.place = place
        size = place.end - place.start if place else 0
        self.seen += size
        self.held += size
        self.charge = size
        if self.seen > self.told + TELLING:
            self.told = self.seen
            self.progress(self.seen)

    charge = 0
    """Bytes of the value that no trace has on its account yet."""

    def _touched(self, key: str, place: Place | None, file: int) -> _Open:
        group = self.open.pop(key, None) or _Open(file)
        self.open[key] = group
        if self.window < HELD and (key in self.made.spans or key in self.made.late):
            self.window = min(max(2 * self.window, _WINDOW), HELD)
        if not group.places or group.places[-1] is not place:
            group.places.append(place)
        group.size += self.charge
        self.charge = 0
        return group

    def _close_whole(self) -> None:
        """Traces of the latest value that lack nothing, while they are still at hand."""
        latest = takewhile(
            lambda item: item[1].places[-1] is self.place, reversed(self.open.items())
        )
        for key, group in list(latest) if self.place is not None else ():
            if spans := whole(group.records):
                self._close_open(key, group, spans)
            elif _is_whole(group.records):
                self._close_open(key, group)
        if self.held > HELD:
            self._let_go()

    def _let_go(self) -> None:
        """The traces that have been quiet longest; the latest one is likely to go on."""
        for key, group in list(self.open.items())[:-1]:
            if self.held <= self.window // 2:
                break
            if None not in group.places:  # what has no place cannot be read again
                self._close_open(key, group)

    def _close_open(self, key: str, group: _Open, spans: tuple[Span, ...] = ()) -> None:
        del self.open[key]
        self.held -= group.size
        self._close(key, group, spans)

    def _close(self, key: str, group: _Open, spans: tuple[Span, ...] = ()) -> None:
        made, places = self.made, tuple([place for place in group.places if place])
        is_new = key not in made.spans and key not in made.late
        if is_new and (spans or any(isinstance(record, Span) for record in group.records)):
            spans = spans or spans_of(key, group.records)
            made.spans[key] = self._mapped(key, spans, group.file, places)
        else:
            made.see(key, places)

    def finish(self) -> Collected:
        """All that was read; what has no place is joined with what has."""
        for key, group in self.open.items():
            if None in group.places:
                self.rest[key] = group
            else:
                self._close(key, group)
        self.open.clear()
        self.spill.flush()
        return self.made

    def settle(self) -> None:
        """Read again what came late."""
        made = self.made
        for key in self.rest.keys() - made.late.keys():
            known = made.spans.pop(key, None)
            made.late[key] = known.places if known else ()
        for batch in _batches(made.late):
            for key, group in self._again(batch).items():
                self._settle(key, group)
        made.late, self.rest = {}, {}
        self.spill.flush()

    def _settle(self, key: str, group: _Open) -> None:
        found = self._mapped(key, spans_of(key, group.records), group.file, ())
        if any(isinstance(record, Span) for record in group.records):
            self.made.spans[key] = found
        elif found.slot is not None:
            self.made.spans[key] = found
            self.made.bare += 1
        else:
            self.made.lost += len(group.records)

    def _again(self, wanted: dict[str, tuple[Place, ...]]) -> dict[str, _Open]:
        found = {key: self.rest.get(key) or _Open(len(self.paths)) for key in wanted}
        for place in sorted({place for places in wanted.values() for place in places}):
            for record in again(place, self.paths[place.file]):
                if not isinstance(record, Trace) and (group := found.get(record.trace_id)):
                    group.records.append(record)
                    group.file = min(group.file, place.file)
        return found

    def _mapped(
        self,
        key: str,
        spans: tuple[Span, ...],
        file: int,
        places: tuple[Place, ...],
    ) -> Found:
        source = self.paths[file]
        made = to_traces(spans, source=source, keep_spans=self.keep_spans) if spans else []
        if not made:
            self._idle(spans)
            return Found(key, None, places=places)
        trace = made[0]
        return Found(key, self._slot(trace), _start(trace), trace.conversation, places)

    def _idle(self, spans: Iterable[Span]) -> None:
        idle = self.made.idle
        for span in spans:
            if span.name in idle or (span.name and len(idle) < _MAX_NAMES):
                idle[span.name] = idle.get(span.name, 0) + 1

    def _slot(self, trace: Trace) -> Slot:
        return trace if self.seen <= self.kept else self.spill.put(trace)

    def _told(self, trace: Trace) -> None:
        digest = blake2b(repr(trace.turns).encode("utf-8", "replace"), digest_size=16).digest()
        found = Found(trace.id, self._slot(trace), _start(trace), trace.conversation, (), digest)
        self.made.told.append(found)


def _is_whole(records: Sequence[Span | LogRecord]) -> bool:
    """Whether there is a root, and no parent is missing."""
    known = {record.span_id for record in records}
    parents = {record.parent_id for record in records if isinstance(record, Span)}
    return None in parents and parents - {None} <= known


def _start(trace: Trace) -> int:
    return min([turn.start for turn in trace.turns if turn.start is not None], default=0)


def _batches(late: dict[str, tuple[Place, ...]]) -> Iterator[dict[str, tuple[Place, ...]]]:
    """Traces that are near each other, as many as may be held at a time."""
    batch: dict[str, tuple[Place, ...]] = {}
    near: set[Place] = set()
    size = 0
    for key, places in sorted(late.items(), key=lambda item: (item[1][:1], item[0])):
        batch[key] = places
        size += sum(place.end - place.start for place in {*places} - near)
        near.update(places)
        if size > HELD:
            yield batch
            batch, near, size = {}, set[Place](), 0
    if batch:
        yield batch
