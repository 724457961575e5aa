from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import cast

import pytest

from carob.schema import Json, Span
from carob.traces.containers import otlp
from carob.traces.containers.container import LogRecord, Record
from carob.traces.containers.detect import read_items
from carob.traces.otlp_request import Signal, count_data_points, read_request


def span(**fields: Json) -> dict[str, Json]:
    return {
        "traceId": "5B8EFFF798038103D269B633813FC60C",
        "spanId": "EEE19B7EC3C1B174",
        "parentSpanId": "",
        "name": "chat",
        "kind": 3,
        "startTimeUnixNano": "1544712660000000000",
        "endTimeUnixNano": 1544712661000000000,
        **fields,
    }


def request(**fields: Json) -> dict[str, Json]:
    return export_request(span(**fields))


def export_request(*spans: Json) -> dict[str, Json]:
    scope: Json = {"name": "my.library", "version": "1.0"}
    return {"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": [*spans]}]}]}


def read_both_ways(document: dict[str, Json]) -> Span:
    """The span, which the typed decoder and the loose reader read alike."""
    typed = otlp.decode(json.dumps(document).encode())
    (fast,) = read_items([typed], source="f")
    (slow,) = read_items([document], source="f")
    assert fast == slow
    assert isinstance(fast, Span)
    return fast


def test_span_is_read_in_full():
    status: Json = {"code": "STATUS_CODE_ERROR", "message": "boom"}
    event: Json = {"name": "exception", "timeUnixNano": "1544712660500000000"}
    record = read_both_ways(request(status=status, events=[event]))
    assert (record.trace_id, record.span_id) == (
        "5b8efff798038103d269b633813fc60c",
        "eee19b7ec3c1b174",
    )
    assert (record.parent_id, record.kind, record.status) == (None, "client", "error")
    assert (record.start, record.end) == (1544712660000000000, 1544712661000000000)
    assert (record.scope, record.scope_version, record.status_message) == (
        "my.library",
        "1.0",
        "boom",
    )
    assert [(e.name, e.time) for e in record.events] == [("exception", 1544712660500000000)]


def test_every_kind_of_value_is_unwrapped():
    inner: Json = [{"key": "k", "value": {"intValue": "7"}}]
    kinds: dict[str, Json] = {
        "text": {"stringValue": "x"},
        "number": {"intValue": "12"},
        "small": {"intValue": 12},
        "float": {"doubleValue": 0.5},
        "no number": {"doubleValue": "NaN"},
        "true": {"boolValue": True},
        "list": {"arrayValue": {"values": [{"stringValue": "a"}, {}]}},
        "empty list": {"arrayValue": {}},
        "object": {"kvlistValue": {"values": inner}},
        "bytes": {"bytesValue": "AAE="},
        "null": {},
    }
    record = read_both_ways(request(attributes=[{"key": k, "value": v} for k, v in kinds.items()]))
    assert record.attributes == {
        "text": "x",
        "number": 12,
        "small": 12,
        "float": 0.5,
        "no number": None,
        "true": True,
        "list": ["a", None],
        "empty list": [],
        "object": {"k": 7},
        "bytes": "AAE=",
        "null": None,
    }


def test_typed_decoder_reads_the_specified_spelling():
    assert isinstance(otlp.decode(json.dumps(request()).encode()), otlp.Records)


def test_snake_case_is_not_read_as_an_empty_request():
    raw = json.dumps(request()).replace("startTimeUnixNano", "start_time_unix_nano")
    (record,) = read_items([otlp.decode(raw.encode())], source="f")
    assert isinstance(record, Span)
    assert record.start == 1544712660000000000


def test_log_records_have_their_span_and_event_name():
    record: Json = {
        "timeUnixNano": "0",
        "observedTimeUnixNano": "5",
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "body": {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "Hi"}}]}},
        "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.user.message"}}],
    }
    document: dict[str, Json] = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (fast,) = read_items([otlp.decode(json.dumps(document).encode())], source="f")
    (slow,) = read_items([document], source="f")
    assert fast == slow
    assert isinstance(fast, LogRecord)
    assert (fast.event.name, fast.event.time) == ("gen_ai.user.message", 5)
    assert fast.event.body == {"content": "Hi"}


def test_ids_of_one_request_may_use_different_spellings():
    ids = {
        "eee19b7ec3c1b174": "",
        "EEE19B7EC3C1B175": "EEE19B7EC3C1B174",
        "7uGbfsPBsXY=": "eee19b7ec3c1b175",
        "0000000000000000": None,
        "eee19b7ec3c1b1": "7uGbfsPBsXQ=",
        "a" * 18: "eee19b7ec3c1b1",
    }
    document = export_request(
        *(span(spanId=key, parentSpanId=parent) for key, parent in ids.items())
    )
    fast = list(read_items([otlp.decode(json.dumps(document).encode())], source="f"))
    assert fast == list(read_items([document], source="f"))
    assert [(span.span_id, span.parent_id) for span in fast if isinstance(span, Span)] == [
        ("eee19b7ec3c1b174", None),
        ("eee19b7ec3c1b175", "eee19b7ec3c1b174"),
        ("eee19b7ec3c1b176", "eee19b7ec3c1b175"),
        ("", None),
        ("eee19b7ec3c1b1", "eee19b7ec3c1b174"),
        ("a" * 18, "eee19b7ec3c1b1"),
    ]


def test_parent_id_may_use_a_different_spelling():
    first, second = span(spanId="eee19b7ec3c1b174"), span(spanId="eee19b7ec3c1b175")
    document = export_request(first, {**second, "parentSpanId": "EEE19B7EC3C1B174"})
    records = read_items([otlp.decode(json.dumps(document).encode())], source="f")
    assert [record.parent_id for record in records if isinstance(record, Span)] == [
        None,
        "eee19b7ec3c1b174",
    ]


def places_in(value: Json, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    """Where the fields of all objects are."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*place, key)
            yield from places_in(inner, *place, key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places_in(inner, *place, index)


def change(document: Json, place: tuple[str | int, ...], *, drop: bool) -> dict[str, Json]:
    """The document with one field null, or without it."""
    changed = holder = deepcopy(document)
    for key in place[:-1]:
        holder = cast("dict[str | int, Json]", holder)[key]
    fields = cast("dict[str | int, Json]", holder)
    fields[place[-1]] = None
    if drop:
        del fields[place[-1]]
    return cast("dict[str, Json]", changed)


PAIRS: Json = [
    {"key": "city", "value": {"stringValue": "Porto"}},
    {"key": "stops", "value": {"arrayValue": {"values": [{"intValue": "2"}]}}},
    {"key": "rider", "value": {"kvlistValue": {"values": [{"key": "a", "value": {}}]}}},
]
SPANS: Json = {
    "resourceSpans": [
        {
            "resource": {"attributes": PAIRS},
            "scopeSpans": [
                {
                    "scope": {"name": "my.library", "version": "1.0", "attributes": PAIRS},
                    "spans": [
                        span(
                            attributes=PAIRS,
                            events=[{"name": "e", "timeUnixNano": "5", "attributes": PAIRS}],
                            links=[],
                            status={"code": 2, "message": "boom"},
                        )
                    ],
                    "schemaUrl": "",
                }
            ],
        }
    ]
}
LOG: Json = {
    "timeUnixNano": "5",
    "eventName": "gen_ai.user.message",
    "body": {"stringValue": "Hi"},
    "attributes": PAIRS,
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
}
LOGS: Json = {
    "resourceLogs": [
        {
            "resource": {"attributes": PAIRS},
            "scopeLogs": [{"scope": {"name": "my.library"}, "logRecords": [LOG]}],
        }
    ]
}


EMPTY: Json = {"resourceSpans": []}


@pytest.mark.parametrize(("signal", "document"), [("traces", SPANS), ("logs", LOGS)])
def test_null_field_is_read_as_an_absent_one(signal: Signal, document: Json):
    """As the JSON mapping of protobuf says, in files and in what a receiver gets."""
    for place in places_in(document):
        null, absent = change(document, place, drop=False), change(document, place, drop=True)
        raw, without = json.dumps(null).encode(), json.dumps(absent or EMPTY).encode()
        expected = read_with_another(otlp.decode(without))
        assert read_with_another(otlp.decode(raw)) == expected, place
        if len(place) > 1:  # else the loose reader has nothing to know the format by
            assert read_with_another(null) == expected, place
        assert read_request(raw, signal, "json") == read_request(without, signal, "json"), place


def read_with_another(value: Json | otlp.Records) -> list[Record]:
    """The records of a value and of a valid request: a file without any is refused."""
    return [*read_items([value, request()], source="f")]


def test_requests_with_nulls_are_still_decoded_as_specified():
    everywhere = request(attributes=None, events=None, links=None, status=None)
    assert isinstance(otlp.decode(json.dumps(everywhere).encode()), otlp.Records)


def test_value_with_several_spellings_is_the_one_that_is_not_null():
    value: Json = {"stringValue": None, "intValue": "7"}
    record = read_both_ways(request(attributes=[{"key": "stops", "value": value}], events=None))
    assert record.attributes == {"stops": 7}


def test_null_in_a_metrics_request_is_absent():
    points: Json = {"sum": {"dataPoints": [{}, {}]}, "gauge": {"dataPoints": None}}
    scopes: Json = [{"scope": None, "metrics": [points]}, {"metrics": None}]
    document: Json = {"resourceMetrics": [{"scopeMetrics": scopes}, {"scopeMetrics": None}]}
    assert count_data_points(json.dumps(document).encode(), "json") == 2
    assert count_data_points(b'{"resourceMetrics": null}', "json") == 0
