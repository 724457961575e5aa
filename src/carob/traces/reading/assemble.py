"""Assemble spans and log records that come in any order: the spans of each trace, in order.

The result does not depend on the order of lines, on duplicate deliveries, or on how the records
were split over files. Only spans with equal start and end keep the order of the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from carob.schema import Problem, Span, SpanEvent
from carob.schema.problem import ProblemListener, ignore
from carob.traces.containers.container import LogRecord

_start = attrgetter("start")
_MAX_SEARCHED = 64
"""Spans that started before a log record and may have been open when it was written."""

_SENT_IN_PARTS = frozenset(("braintrust", "langsmith"))
"""The scopes of recorders that do not send the input of a span again when it ends."""


def assemble(
    records: Iterable[Span | LogRecord], *, source: str, report: ProblemListener
) -> dict[str, tuple[Span, ...]]:
    """The spans of each trace by trace id, log records joined to them; traces in order of start."""
    spans, logs = _deduplicate(records)
    joined = _add_logs(spans, logs, source, report) if logs else spans
    traces = [(key, order_spans(by_id)) for key, by_id in joined.items()]
    traces.sort(key=lambda trace: (trace[1][0].start or 0, trace[0]))
    return dict(traces)


def order_if_complete(records: Sequence[Span | LogRecord]) -> tuple[Span, ...] | None:
    """The ordered spans of a trace that lacks nothing: a root, every parent, and no log records."""
    spans = _unique_spans(records)
    if spans is None or {span.parent_id for span in spans.values()}.difference(spans) != {None}:
        return None
    return order_spans(spans)


def spans_of(key: str, records: Sequence[Span | LogRecord]) -> tuple[Span, ...]:
    """The ordered spans of the trace with the id `key`. Does not report orphan log records."""
    spans = _unique_spans(records)
    if spans is not None:
        return order_spans(spans)
    # Nothing is reported here: missing spans are counted over all traces, at the end.
    return assemble(records, source="", report=ignore).get(key, ())


def _unique_spans(records: Sequence[Span | LogRecord]) -> dict[str, Span] | None:
    """The usual case: spans by id, all different, and no log records."""
    spans = {
        record.span_id: record
        for record in records
        if isinstance(record, Span) and "logfire.span_type" not in record.attributes
    }
    return spans if len(spans) == len(records) and "" not in spans else None


def order_spans(spans: dict[str, Span]) -> tuple[Span, ...]:
    """The spans of one trace, given by id, ordered by start, parents before children.

    A span whose parent is missing becomes a root, unless others lack the same parent. A cycle is
    cut at its earliest span. A child is never ordered before its parent, whatever its own start
    says: the clocks of two machines differ, and numbers that went through JavaScript have lost
    their last digits.
    """
    return _order_by_start(spans) or _order_by_tree(spans)


def _order_by_start(by_id: dict[str, Span]) -> tuple[Span, ...] | None:
    """The usual case: all starts are known and differ, and no child starts before its parent."""
    try:
        by_start = sorted(by_id.values(), key=_start)
    except TypeError:  # a start is missing
        return None
    passed: set[str | None] = {None}
    last, is_missing = 0, False
    for span in by_start:
        start, parent = span.start, span.parent_id
        if parent not in passed:
            if parent in by_id:
                return None
            is_missing = True
        # Spans with equal starts need the tree: by start alone, a child could come before its
        # parent.
        if start is None or start <= last:
            return None
        last = start
        passed.add(span.span_id)
    if not is_missing:
        return tuple(by_start)
    lost = _find_shared_parents(by_id)
    return tuple(
        [
            span if span.parent_id in by_id or span.parent_id in lost else _as_root(span)
            for span in by_start
        ]
    )


def _order_by_tree(by_id: dict[str, Span]) -> tuple[Span, ...]:
    children, roots = _build_tree(by_id)
    starts = _effective_starts(children, roots)
    keyed: list[tuple[tuple[int, int, int, int, int], Span]] = []
    index = {key: position for position, key in enumerate(by_id)}
    pending = [(span, 0, starts[span.span_id]) for span in roots]
    while pending:
        span, depth, parent_start = pending.pop()
        start = max(parent_start, starts[span.span_id])
        key = (start, depth, starts[span.span_id], span.end or start, index[span.span_id])
        keyed.append((key, span))
        pending.extend((child, depth + 1, start) for child in children.get(span.span_id, ()))
    keyed.sort(key=lambda pair: pair[0])
    lost = _find_shared_parents(by_id)
    return tuple(
        _as_root(span) if key[1] == 0 and span.parent_id not in lost else span
        for key, span in keyed
    )


def _find_shared_parents(by_id: dict[str, Span]) -> set[str | None]:
    """The missing parents of more than one span: their children are parts of one run, so none of
    them is its root."""
    parents = Counter(span.parent_id for span in by_id.values() if span.parent_id not in by_id)
    return {parent for parent, number in parents.items() if parent and number > 1}


def _as_root(span: Span) -> Span:
    return msgspec.structs.replace(span, parent_id=None) if span.parent_id else span


def _deduplicate(
    records: Iterable[Span | LogRecord],
) -> tuple[dict[str, dict[str, Span]], list[LogRecord]]:
    """The most complete copy of every span, and the log records."""
    spans: dict[str, dict[str, Span]] = {}
    beginnings: dict[tuple[str, str], Span] = {}
    """Copies without an end of spans that have one in another copy."""
    logs: list[LogRecord] = []
    for record in records:
        if isinstance(record, LogRecord):
            logs.append(record)
            continue
        by_id = spans.get(record.trace_id)
        if by_id is None:
            by_id = spans[record.trace_id] = {}
        if not record.span_id:
            # Spans without an id are all different, so each gets an id of its own.
            record = msgspec.structs.replace(record, span_id=f"#{len(by_id)}")
        earlier = by_id.setdefault(record.span_id, record)
        if earlier is record:
            continue
        if (earlier.end is None) is (record.end is None):
            by_id[record.span_id] = _fuller(earlier, record)
            continue
        beginning, by_id[record.span_id] = sorted((earlier, record), key=_has_end)
        key = (record.trace_id, record.span_id)
        beginnings[key] = _fuller(beginnings.get(key, beginning), beginning)
    # Only at the end, when of all copies the fullest is known: else their order would matter.
    for (trace_id, span_id), beginning in beginnings.items():
        spans[trace_id][span_id] = _join_parts(beginning, spans[trace_id][span_id])
    return {key: _drop_pending(by_id) for key, by_id in spans.items()}, logs


def _fuller(left: Span, right: Span) -> Span:
    """The more complete of two copies. Of two equally complete ones that differ, always the same
    one is chosen: with "the first", the result would depend on the order of the files."""
    if left == right:
        return left
    left_score, right_score = _completeness(left), _completeness(right)
    if left_score == right_score:
        return max(left, right, key=repr)
    return left if left_score > right_score else right


def _has_end(span: Span) -> bool:
    return span.end is not None


def _join_parts(beginning: Span, end: Span) -> Span:
    """The span of two copies, of which the one with an end has all that its recorder knows, unless
    the recorder does not repeat what it said at the beginning."""
    if end.scope not in _SENT_IN_PARTS:
        return end
    return msgspec.structs.replace(
        end,
        name=end.name or beginning.name,
        parent_id=end.parent_id or beginning.parent_id,
        start=beginning.start if end.start is None else end.start,
        attributes=beginning.attributes | end.attributes,
        events=end.events or beginning.events,
    )


def _completeness(span: Span) -> tuple[bool, int, int, bool]:
    return span.end is not None, len(span.attributes), len(span.events), span.start is not None


def _drop_pending(spans: dict[str, Span]) -> dict[str, Span]:
    """Drop the placeholders of Logfire, which announces a span by a child that never ends."""
    pending = {
        key
        for key, span in spans.items()
        if span.attributes.get("logfire.span_type") == "pending_span" and span.parent_id in spans
    }
    return {key: span for key, span in spans.items() if key not in pending} if pending else spans


def _add_logs(
    spans: dict[str, dict[str, Span]], logs: list[LogRecord], source: str, report: ProblemListener
) -> dict[str, dict[str, Span]]:
    events: dict[tuple[str, str], list[SpanEvent]] = {}
    roots = {key: _root_id(by_id) for key, by_id in spans.items()}
    orphans = 0
    for log in _place_logs(spans, logs):
        if not log.trace_id or not (log.span_id or log.trace_id in roots):
            orphans += 1
            continue
        by_id = spans.setdefault(log.trace_id, {})
        if log.trace_id not in roots:
            by_id.setdefault(log.span_id, Span(trace_id=log.trace_id, span_id=log.span_id))
        owner = log.span_id if log.span_id in by_id else roots[log.trace_id]
        events.setdefault((log.trace_id, owner), []).append(log.event)
    for (trace_id, span_id), joined in events.items():
        spans[trace_id][span_id] = _add_events(spans[trace_id][span_id], joined)
    log_only = len(spans) - len(roots)
    for problem in _log_problems(orphans, log_only, source):
        report(problem)
    return spans


def _place_logs(spans: dict[str, dict[str, Span]], logs: list[LogRecord]) -> Iterator[LogRecord]:
    """Give log records without a span id the innermost span that was open when they were written.

    With the root for all of them, the answers of all model calls would be those of one.
    """
    by_start: dict[str, list[Span]] = {}
    for log in logs:
        if log.span_id or log.event.time is None or log.trace_id not in spans:
            yield log
            continue
        if log.trace_id not in by_start:
            timed = [span for span in spans[log.trace_id].values() if span.start is not None]
            by_start[log.trace_id] = sorted(
                timed, key=lambda span: (span.start or 0, -(span.end or 0))
            )
        span = _innermost_at(by_start[log.trace_id], log.event.time)
        yield msgspec.structs.replace(log, span_id=span.span_id) if span else log


def _innermost_at(by_start: list[Span], time: int) -> Span | None:
    end = bisect_right(by_start, time, key=lambda span: span.start or 0)
    for span in reversed(by_start[max(0, end - _MAX_SEARCHED) : end]):
        if span.end is not None and time <= span.end:
            return span
    return None


def _log_problems(orphans: int, log_only: int, source: str) -> list[Problem]:
    hint = "read the file with the spans together with the file with the logs"
    counts = {
        f"{orphans} log records name no span that was read": orphans,
        f"{log_only} traces have log records but no spans": log_only,
    }
    return [
        Problem(where=source, message=message, hint=hint, severity="warning")
        for message, number in counts.items()
        if number
    ]


def _root_id(spans: dict[str, Span]) -> str:
    roots = [span for span in spans.values() if span.parent_id not in spans]
    return min(roots or spans.values(), key=lambda span: (span.start or 0, span.span_id)).span_id


def _add_events(span: Span, logs: list[SpanEvent]) -> Span:
    """The span with its log records as events, by time; a duplicate delivery counts once.

    A span that is known from its log records alone lasts from the first to the last of them.
    """
    unique: dict[tuple[str, int], list[SpanEvent]] = {}
    for event in (*span.events, *logs):
        same = unique.setdefault((event.name, event.time or 0), [])
        if event not in same:
            same.append(event)
    events = tuple(
        sorted(
            [event for same in unique.values() for event in same],
            key=lambda event: event.time or 0,
        )
    )
    times = [event.time for event in events if event.time is not None]
    if span.start is None and span.end is None and times:
        span = msgspec.structs.replace(span, start=times[0], end=times[-1])
    return msgspec.structs.replace(span, events=events)


def _build_tree(by_id: dict[str, Span]) -> tuple[dict[str, list[Span]], list[Span]]:
    """The children of every span, and the roots, among them one span of each cycle."""
    children: dict[str, list[Span]] = {}
    roots: list[Span] = []
    for span in by_id.values():
        if span.parent_id in by_id and span.parent_id != span.span_id:
            children.setdefault(span.parent_id, []).append(span)
        else:
            roots.append(span)
    # Spans that no root reaches are parts of cycles. The earliest span of each becomes a root,
    # whichever came first in the file.
    reached = _descendants(roots, children)
    for span in sorted(by_id.values(), key=lambda span: (span.start or 0, span.span_id)):
        if span.span_id not in reached and span.parent_id in children:
            children[span.parent_id].remove(span)
            roots.append(span)
            reached |= _descendants([span], children)
    return children, roots


def _descendants(roots: list[Span], children: dict[str, list[Span]]) -> set[str]:
    reached: set[str] = set()
    pending = [span.span_id for span in roots]
    while pending:
        key = pending.pop()
        reached.add(key)
        pending.extend(child.span_id for child in children.get(key, ()))
    return reached


def _effective_starts(children: dict[str, list[Span]], roots: list[Span]) -> dict[str, int]:
    """The start of every span; without one of its own, the start of its first child."""
    order = list(roots)
    for span in order:
        order.extend(children.get(span.span_id, ()))
    # Children first, without recursion: a trace may be deeper than Python's stack.
    starts: dict[str, int] = {}
    for span in reversed(order):
        inner = [starts[child.span_id] for child in children.get(span.span_id, ())]
        starts[span.span_id] = min(inner, default=0) if span.start is None else span.start
    return starts
