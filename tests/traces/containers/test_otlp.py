from __future__ import annotations

import json

from carob.schema import Json, Span
from carob.traces.containers import otlp
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items


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
