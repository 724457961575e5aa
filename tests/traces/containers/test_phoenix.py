from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def read(document: Json) -> Span:
    (record,) = read_items([document], source="f")
    assert isinstance(record, Span)
    return record


def test_kind_field_becomes_the_openinference_kind():
    item: Json = {
        "name": "get_weather",
        "context": {"trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174"},
        "span_kind": "TOOL",
        "parent_id": None,
        "start_time": "2026-01-05T10:00:00.000001+00:00",
        "end_time": "2026-01-05T11:00:01+01:00",
        "status_code": "ERROR",
        "status_message": "boom",
        "attributes": {"tool.name": "get_weather"},
    }
    record = read({"data": [item], "next_cursor": None})
    assert record.attributes == {"tool.name": "get_weather", "openinference.span.kind": "TOOL"}
    assert (record.kind, record.status, record.status_message) == ("internal", "error", "boom")
    assert record.start == 1_767_607_200_000_001_000
    assert record.end == 1_767_607_201_000_000_000


def test_columns_of_a_dataframe_become_dotted_attributes():
    row: Json = {
        "name": "ChatCompletion",
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": 1_767_607_200_000,
        "context.span_id": "eee19b7ec3c1b174",
        "context.trace_id": "5b8efff798038103d269b633813fc60c",
        "attributes.llm": {"input_messages": [{"message": {"role": "user", "content": "Hi"}}]},
        "attributes.llm.model_name": "m",
        "attributes.metadata": {"a": {"b": 1}},
        "attributes.tool.name": None,
        "attributes.tags": ["x"],
    }
    record = read(row)
    assert record.start == 1_767_607_200_000_000_000
    assert record.attributes == {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Hi",
        "llm.model_name": "m",
        "metadata": {"a": {"b": 1}},
        "tags": ["x"],
        "openinference.span.kind": "LLM",
    }
