from __future__ import annotations

import pytest

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"
START = 1_700_000_000_000_000_000


def read(item: Json) -> Span:
    (record,) = read_items([item], source="f")
    assert isinstance(record, Span)
    return record


ROWS: dict[str, dict[str, Json]] = {
    "snake case": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": "",
        "name": "chat",
        "start_time": START,
        "end_time": START + 10**9,
        "attributes": {"n": 1},
    },
    "adk debug": {
        "trace_id": int(TRACE, 16),
        "span_id": int(SPAN, 16),
        "parent_span_id": None,
        "name": "chat",
        "start_time": START,
        "end_time": START + 10**9,
        "attributes": {"n": 1},
    },
    "clickhouse": {
        "Timestamp": "2023-11-14 22:13:20.000000000",
        "TraceId": TRACE,
        "SpanId": SPAN,
        "ParentSpanId": "",
        "SpanName": "chat",
        "SpanAttributes": {"n": 1},
        "Duration": 10**9,
    },
    "logfire": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "span_name": "chat",
        "start_timestamp": "2023-11-14T22:13:20Z",
        "duration": 1.0,
        "attributes": '{"n": 1}',
    },
    "home-made": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": None,
        "operation_name": "chat",
        "start_time": "2023-11-14T22:13:20",
        "end_time": "2023-11-14T22:13:21",
        "attributes": {"n": 1},
    },
    "javascript": {
        "traceId": TRACE,
        "id": SPAN,
        "name": "chat",
        "timestamp": START // 1000,
        "duration": 10**6,
        "attributes": {"n": 1},
    },
    "phoenix otlp": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": None,
        "name": "chat",
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + 10**9,
        "attributes": [{"key": "n", "value": {"int_value": 1}}],
    },
    "go": {
        "Name": "chat",
        "SpanContext": {"TraceID": TRACE, "SpanID": SPAN},
        "Parent": {"TraceID": "0" * 32, "SpanID": "0" * 16},
        "StartTime": "2023-11-14T22:13:20Z",
        "EndTime": "2023-11-14T22:13:21Z",
        "Attributes": [{"Key": "n", "Value": {"Type": "INT64", "Value": 1}}],
    },
}


@pytest.mark.parametrize("row", ROWS)
def test_span_is_read_in_every_spelling(row: str):
    assert read(ROWS[row]) == Span(
        trace_id=TRACE,
        span_id=SPAN,
        name="chat",
        start=START,
        end=START + 10**9,
        attributes={"n": 1},
    )


def test_trace_id_may_be_stated_once_for_all_spans():
    item: Json = {"traceId": TRACE, "spans": [{"spanId": SPAN, "name": "chat"}]}
    assert read(item).trace_id == TRACE


def test_dotted_keys_are_attributes():
    item: Json = {"trace_id": 7, "span_id": 8, "gcp.vertex.agent.event_id": "e"}
    assert read(item).attributes == {"gcp.vertex.agent.event_id": "e"}


def test_events_are_read_under_either_name():
    event: Json = {"event_name": "gen_ai.choice", "attributes": {"index": 0}, "timestamp": START}
    record = read({"trace_id": TRACE, "span_id": SPAN, "span_events": [event]})
    assert [(e.name, e.time, e.attributes) for e in record.events] == [
        ("gen_ai.choice", START, {"index": 0})
    ]


def test_log_record_is_distinguished_from_a_span():
    item: Json = {
        "traceId": TRACE,
        "spanId": SPAN,
        "timeUnixNano": START,
        "body": {"content": "Hi"},
        "attributes": {"event.name": "gen_ai.user.message"},
    }
    (record,) = read_items([item], source="f")
    assert isinstance(record, LogRecord)
    assert (record.event.name, record.event.body) == ("gen_ai.user.message", {"content": "Hi"})


@pytest.mark.parametrize(
    "columns",
    [
        {"Events.Name": ["e"], "Events.Timestamp": [START], "Events.Attributes": [{"n": 1}]},
        {"event_names": ["e"], "event_timestamps": [START], "event_attributes": [{"n": 1}]},
    ],
)
def test_events_may_be_parallel_lists(columns: dict[str, Json]):
    (event,) = read(ROWS["clickhouse"] | columns).events
    assert (event.name, event.time, event.attributes) == ("e", START, {"n": 1})


def test_event_with_only_attributes_is_a_log_record():
    item: Json = {
        "body": None,
        "severity_number": None,
        "attributes": {"gen_ai.input.messages": []},
        "timestamp": "2023-11-14T22:13:20Z",
        "trace_id": f"0x{TRACE}",
        "span_id": f"0x{SPAN}",
        "event_name": "gen_ai.client.inference.operation.details",
    }
    (record,) = read_items([item], source="f")
    assert isinstance(record, LogRecord)
    assert record.event.name == "gen_ai.client.inference.operation.details"


def test_logs_of_a_span_in_the_debug_view_of_adk_are_its_events():
    logs: Json = [{"event_name": "gen_ai.choice", "attributes": {"n": 2}}]
    (event,) = read({**ROWS["adk debug"], "logs": logs}).events
    assert (event.name, event.attributes) == ("gen_ai.choice", {"n": 2})
