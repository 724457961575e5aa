from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def span(**fields: Json) -> dict[str, Json]:
    return {
        "traceID": "1f",
        "spanID": "2",
        "operationName": "chat",
        "startTime": 1_700_000_000_000_000,
        "duration": 1500,
        "processID": "p1",
        "tags": [],
        **fields,
    }


def read(document: Json) -> list[Span]:
    records = list(read_items([document], source="f"))
    assert all(isinstance(item, Span) for item in records)
    return [item for item in records if isinstance(item, Span)]


def test_short_ids_are_padded_and_microseconds_become_nanoseconds():
    (record,) = read({"data": [{"traceID": "1f", "spans": [span()], "processes": {}}]})
    assert (record.trace_id, record.span_id) == ("000000000000001f", "0000000000000002")
    assert (record.start, record.end) == (1_700_000_000_000_000_000, 1_700_000_000_001_500_000)


def test_tags_that_carry_fields_of_the_span_become_fields():
    tags: Json = [
        {"key": "span.kind", "type": "string", "value": "client"},
        {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        {"key": "otel.status_description", "type": "string", "value": "boom"},
        {"key": "otel.library.name", "type": "string", "value": "gcp.vertex.agent"},
        {"key": "n", "type": "int64", "value": "12"},
        {"key": "ok", "type": "bool", "value": True},
        {"key": "reasons", "type": "string", "value": '["stop"]'},
    ]
    (record,) = read(span(tags=tags))
    assert (record.kind, record.status, record.status_message) == ("client", "error", "boom")
    assert record.scope == "gcp.vertex.agent"
    assert record.attributes == {"n": 12, "ok": True, "reasons": '["stop"]'}


def test_parent_is_the_reference_within_the_trace():
    references: Json = [
        {"refType": "CHILD_OF", "traceID": "99", "spanID": "7"},
        {"refType": "FOLLOWS_FROM", "traceID": "1f", "spanID": "8"},
        {"refType": "CHILD_OF", "traceID": "1f", "spanID": "9"},
    ]
    assert read(span(references=references))[0].parent_id == "0000000000000009"
    assert read(span(parentSpanID="7"))[0].parent_id == "0000000000000007"


def test_logs_become_events_and_processes_become_resources():
    fields: Json = [
        {"key": "event", "type": "string", "value": "exception"},
        {"key": "exception.type", "type": "string", "value": "ValueError"},
    ]
    log: Json = {"timestamp": 1_700_000_000_000_001, "fields": fields}
    process: Json = {"serviceName": "shop", "tags": [{"key": "host", "value": "a"}]}
    (record,) = read([{"spans": [span(logs=[log])], "processes": {"p1": process}}])
    assert [(e.name, e.time) for e in record.events] == [("exception", 1_700_000_000_000_001_000)]
    assert record.events[0].attributes == {"exception.type": "ValueError"}
    assert record.resource == {"service.name": "shop", "host": "a"}


def test_error_tag_alone_is_an_error():
    assert read(span(tags=[{"key": "error", "type": "bool", "value": True}]))[0].status == "error"


def test_grafana_table_has_milliseconds_not_microseconds():
    row = span(startTime=1_700_000_000_000.25, duration=1.5, serviceName="shop", serviceTags=[])
    (record,) = read([row])
    assert (record.start, record.end) == (1_700_000_000_000_250_000, 1_700_000_000_001_750_000)
    assert record.resource == {"service.name": "shop"}


def test_protobuf_spelling_of_spans_is_read():
    item: Json = {
        "traceId": "W47/95gDgQPSabYzgT/GDA==",
        "spanId": "7uGbfsPBsXQ=",
        "operationName": "chat",
        "references": [{"traceId": "W47/95gDgQPSabYzgT/GDA==", "spanId": "7uGbfsPBsXU="}],
        "startTime": "2023-11-14T22:13:20Z",
        "duration": "1.5s",
        "tags": [
            {"key": "model", "vStr": "gpt-4o"},
            {"key": "n", "vType": "INT64", "vInt64": "12"},
            {"key": "none", "vType": "INT64"},
            {"key": "empty"},
        ],
        "logs": [{"timestamp": "2023-11-14T22:13:21Z", "fields": [{"key": "event", "vStr": "x"}]}],
    }
    (record,) = read({"result": {"spans": [item]}})
    assert (record.span_id, record.parent_id) == ("eee19b7ec3c1b174", "eee19b7ec3c1b175")
    assert (record.start, record.end) == (1_700_000_000_000_000_000, 1_700_000_001_500_000_000)
    assert record.attributes == {"model": "gpt-4o", "n": 12, "none": 0, "empty": ""}
    assert [(event.name, event.time) for event in record.events] == [
        ("x", 1_700_000_001_000_000_000)
    ]
