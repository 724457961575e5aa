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
    return of_spans(span(**fields))


def of_spans(*spans: Json) -> dict[str, Json]:
    scope: Json = {"name": "my.library", "version": "1.0"}
    return {"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": [*spans]}]}]}


def both(document: dict[str, Json]) -> Span:
    """The span as the typed decoder and as the loose reader understand it."""
    typed = otlp.decode(json.dumps(document).encode())
    (fast,) = read_items([typed], source="f")
    (slow,) = read_items([document], source="f")
    assert fast == slow
    assert isinstance(fast, Span)
    return fast


def test_a_span_is_read_in_full():
    status: Json = {"code": "STATUS_CODE_ERROR", "message": "boom"}
    event: Json = {"name": "exception", "timeUnixNano": "1544712660500000000"}
    found = both(request(status=status, events=[event]))
    assert (found.trace_id, found.span_id) == (
        "5b8efff798038103d269b633813fc60c",
        "eee19b7ec3c1b174",
    )
    assert (found.parent_id, found.kind, found.status) == (None, "client", "error")
    assert (found.start, found.end) == (1544712660000000000, 1544712661000000000)
    assert (found.scope, found.scope_version, found.status_message) == ("my.library", "1.0", "boom")
    assert [(e.name, e.time) for e in found.events] == [("exception", 1544712660500000000)]


def test_every_kind_of_value_becomes_plain():
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
    found = both(request(attributes=[{"key": k, "value": v} for k, v in kinds.items()]))
    assert found.attributes == {
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


def test_the_typed_decoder_reads_the_specified_spelling():
    assert isinstance(otlp.decode(json.dumps(request()).encode()), otlp.Records)


def test_a_twin_spelling_is_not_taken_for_an_empty_one():
    raw = json.dumps(request()).replace("startTimeUnixNano", "start_time_unix_nano")
    (found,) = read_items([otlp.decode(raw.encode())], source="f")
    assert isinstance(found, Span)
    assert found.start == 1544712660000000000


def test_log_records_name_their_span_and_their_event():
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


def test_ids_of_one_request_may_be_spelled_in_different_ways():
    ids = {
        "eee19b7ec3c1b174": "",
        "EEE19B7EC3C1B175": "EEE19B7EC3C1B174",
        "7uGbfsPBsXY=": "eee19b7ec3c1b175",
        "0000000000000000": None,
        "eee19b7ec3c1b1": "7uGbfsPBsXQ=",
        "a" * 18: "eee19b7ec3c1b1",
    }
    document = of_spans(*(span(spanId=key, parentSpanId=parent) for key, parent in ids.items()))
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


def test_a_parent_may_be_spelled_otherwise_than_the_span_that_it_is():
    first, second = span(spanId="eee19b7ec3c1b174"), span(spanId="eee19b7ec3c1b175")
    document = of_spans(first, {**second, "parentSpanId": "EEE19B7EC3C1B174"})
    found = read_items([otlp.decode(json.dumps(document).encode())], source="f")
    assert [one.parent_id for one in found if isinstance(one, Span)] == [None, "eee19b7ec3c1b174"]
