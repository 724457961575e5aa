from __future__ import annotations

import pytest

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def read(**fields: Json) -> Span:
    item: dict[str, Json] = {
        "traceId": "5af7183fb1d4cf5f",
        "id": "352bff9a74ca9ad2",
        "parentId": "6b221d5bc9e6496c",
        "name": "chat",
        "timestamp": 1_700_000_000_000_000,
        "duration": 1500,
        "localEndpoint": {"serviceName": "shop"},
        **fields,
    }
    (record,) = read_items([[[item]]], source="f")
    assert isinstance(record, Span)
    return record


def test_span_is_read_in_full():
    record = read(kind="CLIENT", tags={"n": "12", "otel.scope.name": "ai"})
    assert (record.span_id, record.parent_id) == ("352bff9a74ca9ad2", "6b221d5bc9e6496c")
    assert (record.start, record.end) == (1_700_000_000_000_000_000, 1_700_000_000_001_500_000)
    assert (record.kind, record.scope, record.resource) == (
        "client",
        "ai",
        {"service.name": "shop"},
    )
    assert record.attributes == {"n": "12"}


@pytest.mark.parametrize(
    ("value", "name", "attributes"),
    [
        ("started", "started", {}),
        ('gen_ai.choice|{"index": 0}|0', "gen_ai.choice", {"index": 0}),
        ('"gen_ai.choice":{"index":0}', "gen_ai.choice", {"index": 0}),
        ('{"gen_ai.choice": {"index": 0}}', "gen_ai.choice", {"index": 0}),
        ("a: b", "a: b", {}),
    ],
)
def test_annotations_become_events(value: str, name: str, attributes: dict[str, Json]):
    (event,) = read(annotations=[{"timestamp": 1_700_000_000_000_001, "value": value}]).events
    assert (event.name, event.attributes) == (name, attributes)


@pytest.mark.parametrize(
    ("tags", "status", "message"),
    [
        ({"error": "boom"}, "error", "boom"),
        ({"error": "true", "otel.status_description": "boom"}, "error", "boom"),
        ({"otel.status_code": "OK"}, "ok", None),
        ({}, "unset", None),
    ],
)
def test_error_tag_is_the_message(tags: dict[str, Json], status: str, message: str | None):
    record = read(tags=tags)
    assert (record.status, record.status_message) == (status, message)
    assert record.attributes == {}


def test_tags_of_the_first_version_are_binary_annotations():
    (record,) = read_items(
        [{"traceId": "1f", "id": "2", "binaryAnnotations": [{"key": "n", "value": "1"}]}],
        source="f",
    )
    assert isinstance(record, Span)
    assert record.attributes == {"n": "1"}
