"""Spans and log records in any order → the spans of each trace, once each and in order.

The result does not depend on the order of lines, on deliveries that came twice, or on how the
records were split over files. Only spans that start and end together keep the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter, lt

import msgspec

from carob.schema import Problem, Span, SpanEvent
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers.container import LogRecord

_start = attrgetter("start")


def assemble(
    records: Iterable[Span | LogRecord], *, source: str, report: ProblemListener
) -> dict[str, tuple[Span, ...]]:
    """The spans of each trace by trace id, log records joined to them; traces in order of start."""
    spans, logs = _sorted_out(records)
    joined = _with_logs(spans, logs, source, report) if logs else spans
    traces = [(key, ordered(found)) for key, found in joined.items()]
    traces.sort(key=lambda trace: (trace[1][0].start or 0, trace[0]))
    return dict(traces)


def whole(records: Sequence[Span | LogRecord]) -> tuple[Span, ...] | None:
    """The spans of a trace of which all are there: a root, every parent, and nothing else."""
    found = _once(records)
    if found is None or {span.parent_id for span in found.values()}.difference(found) != {None}:
        return None
    return ordered(found)


def spans_of(key: str, records: Sequence[Span | LogRecord]) -> tuple[Span, ...]:
    """The spans of one trace, whose id is `key`; nothing is said of log records without a span."""
    found = _once(records)
    if found is not None:
        return ordered(found)
    # What is missing from one trace is counted over all of them.
    return assemble(records, source="", report=ignore).get(key, ())


def _once(records: Sequence[Span | LogRecord]) -> dict[str, Span] | None:
    """The usual case: spans by id, all different, and no log records."""
    spans = {
        record.span_id: record
        for record in records
        if isinstance(record, Span) and "logfire.span_type" not in record.attributes
    }
    return spans if len(spans) == len(records) and "" not in spans else None


def ordered(found: dict[str, Span]) -> tuple[Span, ...]:
    """The spans of one trace, which came by id, by start, parents before children.

    A span whose parent is not there is a root, and a cycle is cut at its earliest span; both then
    have no parent. A child counts from its parent's start at the earliest: clocks of two machines
    differ, and numbers that went through JavaScript have lost their last digits.
    """
    return _by_start(found) or _by_tree(found)


def _by_start(found: dict[str, Span]) -> tuple[Span, ...] | None:
    """The usual case: all starts are known and differ, and no child starts before its parent."""
    spans = found.values()
    starts = [span.start for span in spans if span.start is not None]
    if len({*starts}) < len(found):
        return None
    parents = [span.parent_id for span in spans]
    started: dict[str | None, int] = dict(zip(found, starts, strict=True))
    if not all(map(lt, [started.get(parent, 0) for parent in parents], starts)):
        return None
    by_start = sorted(spans, key=_start)
    if {*parents}.difference(found) <= {None}:
        return tuple(by_start)
    return tuple([span if span.parent_id in found else _rooted(span) for span in by_start])


def _by_tree(found: dict[str, Span]) -> tuple[Span, ...]:
    children, roots = _tree(found)
    starts = _starts(children, roots)
    places: list[tuple[tuple[int, int, int, int, int], Span]] = []
    index = {key: place for place, key in enumerate(found)}
    pending = [(span, 0, starts[span.span_id]) for span in roots]
    while pending:
        span, depth, floor = pending.pop()
        start = max(floor, starts[span.span_id])
        key = (start, depth, starts[span.span_id], span.end or start, index[span.span_id])
        places.append((key, span))
        pending.extend((child, depth + 1, start) for child in children.get(span.span_id, ()))
    places.sort(key=lambda place: place[0])
    return tuple(_rooted(span) if key[1] == 0 else span for key, span in places)


def _rooted(span: Span) -> Span:
    return msgspec.structs.replace(span, parent_id=None) if span.parent_id else span


def _sorted_out(
    records: Iterable[Span | LogRecord],
) -> tuple[dict[str, dict[str, Span]], list[LogRecord]]:
    """The most complete copy of every span, and the log records."""
    spans: dict[str, dict[str, Span]] = {}
    logs: list[LogRecord] = []
    for record in records:
        if isinstance(record, LogRecord):
            logs.append(record)
            continue
        known = spans.setdefault(record.trace_id, {})
        key = record.span_id or f"#{len(known)}"
        span = record if record.span_id else msgspec.structs.replace(record, span_id=key)
        other = known.get(key)
        known[key] = span if other is None else _fuller(other, span)
    return {key: _without_pending(found) for key, found in spans.items()}, logs


def _fuller(one: Span, two: Span) -> Span:
    """The more complete of two copies; of two that differ, the same one in whatever order."""
    if one == two:
        return one
    first, second = _completeness(one), _completeness(two)
    if first == second:
        return max(one, two, key=repr)
    return one if first > second else two


def _completeness(span: Span) -> tuple[bool, int, int, bool]:
    return span.end is not None, len(span.attributes), len(span.events), span.start is not None


def _without_pending(spans: dict[str, Span]) -> dict[str, Span]:
    """Logfire announces a span by a child of it that is never completed."""
    pending = {
        key
        for key, span in spans.items()
        if span.attributes.get("logfire.span_type") == "pending_span" and span.parent_id in spans
    }
    return {key: span for key, span in spans.items() if key not in pending} if pending else spans


def _with_logs(
    spans: dict[str, dict[str, Span]], logs: list[LogRecord], source: str, report: ProblemListener
) -> dict[str, dict[str, Span]]:
    events: dict[tuple[str, str], list[SpanEvent]] = {}
    roots = {key: _root(found) for key, found in spans.items()}
    lost = 0
    for log in logs:
        if not log.trace_id or not (log.span_id or log.trace_id in roots):
            lost += 1
            continue
        known = spans.setdefault(log.trace_id, {})
        if log.trace_id not in roots:
            known.setdefault(log.span_id, Span(trace_id=log.trace_id, span_id=log.span_id))
        owner = log.span_id if log.span_id in known else roots[log.trace_id]
        events.setdefault((log.trace_id, owner), []).append(log.event)
    for (trace_id, span_id), joined in events.items():
        spans[trace_id][span_id] = _joined(spans[trace_id][span_id], joined)
    bare = len(spans) - len(roots)
    for problem in _complaints(lost, bare, source):
        report(problem)
    return spans


def _complaints(lost: int, bare: int, source: str) -> list[Problem]:
    hint = "read the file of the spans together with the file of the logs"
    found = {
        f"{lost} log records name no span that was read": lost,
        f"{bare} traces have log records but no spans": bare,
    }
    return [
        Problem(where=source, message=message, hint=hint, severity="warning")
        for message, number in found.items()
        if number
    ]


def _root(spans: dict[str, Span]) -> str:
    roots = [span for span in spans.values() if span.parent_id not in spans]
    return min(roots or spans.values(), key=lambda span: (span.start or 0, span.span_id)).span_id


def _joined(span: Span, logs: list[SpanEvent]) -> Span:
    """Span events and log records by time; a record that was delivered twice counts once.

    A span of which only log records are known lasts from the first to the last.
    """
    once: dict[tuple[str, int], list[SpanEvent]] = {}
    for event in (*span.events, *logs):
        same = once.setdefault((event.name, event.time or 0), [])
        if event not in same:
            same.append(event)
    found = [event for same in once.values() for event in same]
    events = tuple(sorted(found, key=lambda event: event.time or 0))
    times = [event.time for event in events if event.time is not None]
    if span.start is None and span.end is None and times:
        span = msgspec.structs.replace(span, start=times[0], end=times[-1])
    return msgspec.structs.replace(span, events=events)


def _tree(found: dict[str, Span]) -> tuple[dict[str, list[Span]], list[Span]]:
    """The children of every span, and the spans to begin from: one of each cycle among them."""
    children: dict[str, list[Span]] = {}
    roots: list[Span] = []
    for span in found.values():
        if span.parent_id in found and span.parent_id != span.span_id:
            children.setdefault(span.parent_id, []).append(span)
        else:
            roots.append(span)
    reached = _reached(roots, children)
    for span in sorted(found.values(), key=lambda span: (span.start or 0, span.span_id)):
        if span.span_id not in reached and span.parent_id in children:
            children[span.parent_id].remove(span)
            roots.append(span)
            reached |= _reached([span], children)
    return children, roots


def _reached(roots: list[Span], children: dict[str, list[Span]]) -> set[str]:
    seen: set[str] = set()
    pending = [span.span_id for span in roots]
    while pending:
        key = pending.pop()
        seen.add(key)
        pending.extend(child.span_id for child in children.get(key, ()))
    return seen


def _starts(children: dict[str, list[Span]], roots: list[Span]) -> dict[str, int]:
    """When every span started: for one that does not say, when its first child did."""
    order = list(roots)
    for span in order:
        order.extend(children.get(span.span_id, ()))
    starts: dict[str, int] = {}
    for span in reversed(order):
        inner = [starts[child.span_id] for child in children.get(span.span_id, ())]
        starts[span.span_id] = min(inner, default=0) if span.start is None else span.start
    return starts
