from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import permutations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.schema import Problem, Span, SpanEvent
from carob.traces.containers.container import LogRecord
from carob.traces.reading.assemble import assemble


def span(key: str, parent: str | None = None, start: int | None = 1, **fields: object) -> Span:
    base = Span(trace_id="t", span_id=key, parent_id=parent, start=start, end=9)
    return msgspec.structs.replace(base, **fields)


def log(key: str, name: str, time: int = 1, trace: str = "t") -> LogRecord:
    return LogRecord(trace, key, SpanEvent(name=name, time=time))


def spans_of(records: Iterable[Span | LogRecord]) -> list[Span]:
    problems: list[Problem] = []
    traces = assemble(records, source="f", report=problems.append)
    assert not problems
    return [item for trace in traces.values() for item in trace]


def order(records: Iterable[Span | LogRecord]) -> list[str]:
    return [item.span_id for item in spans_of(records)]


def test_child_may_come_before_its_parent():
    assert order([span("b", "a", 2), span("a", None, 1)]) == ["a", "b"]


def test_most_complete_copy_is_used():
    first = span("a", end=None, attributes={"x": 1, "y": 2})
    last = span("a", attributes={"x": 1})
    assert spans_of([first, last]) == spans_of([last, first]) == [last]


def test_copies_of_a_recorder_that_sends_parts_are_joined_in_any_order():
    begin = span("a", end=None, attributes={"input": "Hi", "kind": "llm"}, scope="langsmith")
    end = span("a", attributes={"kind": "llm", "output": "Hello"}, scope="langsmith")
    other = span("a", attributes={"output": "Hello"}, scope="langsmith")
    for copies in permutations([begin, end, other]):
        (joined,) = spans_of(copies)
        assert joined.attributes == {"input": "Hi", "kind": "llm", "output": "Hello"}
        assert (joined.start, joined.end) == (1, 9)


def test_span_with_a_missing_parent_is_a_root():
    assert [item.parent_id for item in spans_of([span("a", "gone")])] == [None]


def test_cycle_is_cut_at_its_earliest_span():
    spans = spans_of([span("a", "c", 3), span("b", "a", 1), span("c", "b", 2), span("d", "d", 9)])
    assert [(s.span_id, s.parent_id) for s in spans] == [
        ("b", None),
        ("c", "b"),
        ("a", "c"),
        ("d", None),
    ]


def test_child_with_a_slow_clock_comes_after_its_parent():
    skewed = [span("child", "parent", 5), span("parent", None, 10), span("other", None, 7)]
    assert order(skewed) == ["other", "parent", "child"]


def test_spans_with_the_same_start_are_ordered_parent_first():
    assert order([span("b", "a", 1), span("a", None, 1)]) == ["a", "b"]


def test_span_without_a_start_starts_with_its_first_child():
    records = [span("root", None, None), span("x", "root", 5), span("early", None, 2)]
    assert order(records) == ["early", "root", "x"]


def test_log_records_become_events_of_their_span_in_order_of_time():
    original = span("a", events=(SpanEvent(name="two", time=2),))
    spans = spans_of([log("a", "three", 3), original, log("a", "one", 1), log("a", "one", 1)])
    assert [event.name for event in spans[0].events] == ["one", "two", "three"]


def test_log_record_of_an_unknown_span_goes_to_the_root():
    spans = spans_of([span("b", "a", 2), span("a"), log("gone", "said")])
    assert [(s.span_id, [e.name for e in s.events]) for s in spans] == [("a", ["said"]), ("b", [])]


def test_log_records_without_a_span_create_one_and_are_reported():
    problems: list[Problem] = []
    records = [log("a", "late", 5), log("a", "early", 3), log("", "x", trace="")]
    traces = assemble(records, source="logs.json", report=problems.append)
    (item,) = traces["t"]
    assert (item.start, item.end, len(item.events)) == (3, 5, 2)
    assert [p.message for p in problems] == [
        "1 log records name no span that was read",
        "1 traces have log records but no spans",
    ]


def test_placeholder_span_is_replaced_by_the_real_one():
    pending = span("p", "a", attributes={"logfire.span_type": "pending_span"})
    assert order([pending, span("a")]) == ["a"]
    assert order([pending]) == ["p"]


def test_chain_of_twenty_thousand_spans_is_ordered():
    chain = [span(str(n), str(n - 1) if n else None, n) for n in range(20_000)]
    assert order(chain[::-1]) == [str(n) for n in range(20_000)]


IDS = st.sampled_from("abcdef")
SPANS = st.builds(
    span,
    IDS,
    st.none() | IDS,
    st.none() | st.integers(1, 9),
    name=st.sampled_from(["x", "y"]),
    end=st.none() | st.integers(10, 12),
    attributes=st.dictionaries(st.sampled_from("pq"), st.integers(0, 2)),
)
LOGS = st.builds(log, IDS, st.sampled_from(["m", "n"]), st.integers(1, 3))


@settings(max_examples=150, deadline=None)
@given(st.lists(SPANS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_order_and_duplicates_of_records_change_no_span(
    records: list[Span], random_order: random.Random
):
    again = records + records[: len(records) // 2]
    random_order.shuffle(again)
    by_id = {item.span_id: item for item in spans_of(records)}
    assert {item.span_id: item for item in spans_of(again)} == by_id


@settings(max_examples=150, deadline=None)
@given(st.lists(SPANS | LOGS, max_size=12))
def test_every_span_comes_out_once_and_after_its_parent(records: list[Span | LogRecord]):
    traces = assemble(records, source="f", report=lambda problem: None)
    ids: set[str] = set()
    spans = traces.get("t", ())
    for item in spans:
        assert item.span_id not in ids
        siblings = [span for span in spans if span.parent_id == item.parent_id]
        is_lost = all(span.span_id != item.parent_id for span in spans) and len(siblings) > 1
        assert item.parent_id is None or item.parent_id in ids or is_lost
        ids.add(item.span_id)
    assert {record.span_id for record in records if isinstance(record, Span)} <= ids


def test_log_record_without_a_span_id_goes_to_the_span_that_was_open():
    records = [
        span("a", start=1, end=9),
        span("b", "a", start=2, end=4),
        span("c", "a", start=5, end=8),
        log("", "first", 3),
        log("", "second", 6),
        log("", "last", 9),
    ]
    events = {item.span_id: [event.name for event in item.events] for item in spans_of(records)}
    assert events == {"a": ["last"], "b": ["first"], "c": ["second"]}
