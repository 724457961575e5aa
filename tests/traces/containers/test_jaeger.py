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
    found = list(read_items([document], source="f"))
    assert all(isinstance(item, Span) for item in found)
    return [item for item in found if isinstance(item, Span)]


def test_short_ids_are_padded_and_microseconds_become_nanoseconds():
    (found,) = read({"data": [{"traceID": "1f", "spans": [span()], "processes": {}}]})
    assert (found.trace_id, found.span_id) == ("000000000000001f", "0000000000000002")
    assert (found.start, found.end) == (1_700_000_000_000_000_000, 1_700_000_000_001_500_000)


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
    (found,) = read(span(tags=tags))
    assert (found.kind, found.status, found.status_message) == ("client", "error", "boom")
    assert found.scope == "gcp.vertex.agent"
    assert found.attributes == {"n": 12, "ok": True, "reasons": '["stop"]'}


def test_the_parent_is_the_reference_within_the_trace():
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
    (found,) = read([{"spans": [span(logs=[log])], "processes": {"p1": process}}])
    assert [(e.name, e.time) for e in found.events] == [("exception", 1_700_000_000_000_001_000)]
    assert found.events[0].attributes == {"exception.type": "ValueError"}
    assert found.resource == {"service.name": "shop", "host": "a"}


def test_the_error_tag_alone_is_an_error():
    assert read(span(tags=[{"key": "error", "type": "bool", "value": True}]))[0].status == "error"


def test_milliseconds_of_grafanas_table_are_not_taken_for_microseconds():
    row = span(startTime=1_700_000_000_000.25, duration=1.5, serviceName="shop", serviceTags=[])
    (found,) = read([row])
    assert (found.start, found.end) == (1_700_000_000_000_250_000, 1_700_000_000_001_750_000)
    assert found.resource == {"service.name": "shop"}


def test_spans_as_protobuf_spells_them_are_read():
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
    (found,) = read({"result": {"spans": [item]}})
    assert (found.span_id, found.parent_id) == ("eee19b7ec3c1b174", "eee19b7ec3c1b175")
    assert (found.start, found.end) == (1_700_000_000_000_000_000, 1_700_000_001_500_000_000)
    assert found.attributes == {"model": "gpt-4o", "n": 12, "none": 0, "empty": ""}
    assert [(event.name, event.time) for event in found.events] == [("x", 1_700_000_001_000_000_000)]
