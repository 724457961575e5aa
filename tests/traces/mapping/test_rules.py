"""Rules that hold for every recording, whatever the framework and the recorder."""

from __future__ import annotations

import msgspec
import pytest

from carob.schema import Json, Span, Trace, Usage
from carob.traces.mapping.traces import to_traces
from tests.traces.mapping.test_dropped import name_trace, wrong_values
from tests.traces.recorded_spans import RecordedTrace, order, recorded_traces

MARKER = "<elided>"
STRUCTURE = frozenset(("role", "kind", "type", "name", "id", "operation", "operationId", "method"))
"""The last parts of keys that are not content."""

every_trace = pytest.mark.parametrize("recorded", recorded_traces(), ids=name_trace)


def read(spans: list[Span]) -> Trace:
    (trace,) = to_traces(order(spans))
    return trace


def summarize(trace: Trace) -> list[tuple[object, ...]]:
    return [
        (turn.user, turn.response, turn.tool_calls, turn.tool_results, usage_of(trace))
        for turn in trace.turns
    ]


def usage_of(trace: Trace) -> Usage:
    return trace.usage


@every_trace
def test_a_span_around_a_trace_changes_nothing(recorded: RecordedTrace):
    times = [time for span in recorded.spans for time in (span.start, span.end) if time is not None]
    root = Span(
        trace_id=recorded.spans[0].trace_id,
        span_id="around",
        name="POST /chat",
        start=min(times, default=None),
        end=max(times, default=None),
        attributes={"http.route": "/chat"},
    )
    ids = {span.span_id for span in recorded.spans}
    inner = [
        span if span.parent_id in ids else msgspec.structs.replace(span, parent_id="around")
        for span in recorded.spans
    ]
    assert summarize(read([root, *inner])) == summarize(recorded.trace)


@every_trace
def test_outer_spans_that_are_recorded_twice_count_once(recorded: RecordedTrace):
    ids = {span.span_id for span in recorded.spans}
    doubled: list[Span] = []
    for span in recorded.spans:
        if span.parent_id not in ids:
            outer = f"outer-{span.span_id}"
            doubled.append(msgspec.structs.replace(span, span_id=outer))
            span = msgspec.structs.replace(span, parent_id=outer)
        doubled.append(span)
    trace = read(doubled)
    assert trace.usage == recorded.trace.usage
    for turn, true_turn in zip(trace.turns, recorded.trace.turns, strict=True):
        assert turn.user in (None, true_turn.user)


@every_trace
def test_markers_in_place_of_content_are_never_content(recorded: RecordedTrace):
    hidden = [
        msgspec.structs.replace(
            span, attributes={key: hide(key, value) for key, value in span.attributes.items()}
        )
        for span in recorded.spans
    ]
    traces = to_traces(order(hidden))
    wrong = [
        problem
        for trace in traces
        for problem in wrong_values(recorded.trace, trace, loses_span=True)
    ]
    assert wrong == []
    texts = [
        (turn.user, turn.response, turn.tool_calls, [result.result for result in turn.tool_results])
        for trace in traces
        for turn in trace.turns
    ]
    assert MARKER not in str(texts)


def hide(key: str, value: Json) -> Json:
    """Hide texts and structures, but nothing that says what a span is."""
    if not isinstance(value, str) or key.rsplit(".", 1)[-1] in STRUCTURE:
        return value
    is_content = value[:1] in ("{", "[") or " " in value or key.endswith(("content", "text"))
    return MARKER if is_content else value


@every_trace
def test_sources_name_where_texts_were_read(recorded: RecordedTrace):
    trace = recorded.trace
    for field in ("user", "response"):
        is_recorded = any(getattr(turn, field) is not None for turn in trace.turns)
        assert is_recorded == (field in trace.sources)
