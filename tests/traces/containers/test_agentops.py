from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def test_nested_attributes_get_their_dotted_names_back():
    span: Json = {
        "span_id": "eee19b7ec3c1b174",
        "parent_span_id": None,
        "span_name": "openai.chat.completion",
        "span_kind": "CLIENT",
        "start_time": "2026-01-05T10:00:00Z",
        "end_time": "2026-01-05T10:00:01Z",
        "status_code": "OK",
        "attributes": {},
        "resource_attributes": {"service": {"name": "shop"}},
        "span_attributes": {
            "gen_ai": {
                "completion": [{"role": "assistant", "content": "Hi"}],
                "usage": {"prompt_tokens": 5},
            },
            "tags": ["x"],
        },
    }
    document: Json = {
        "trace": {"trace_id": "5b8efff798038103d269b633813fc60c", "span_count": 1},
        "spans": [span],
    }
    (record,) = read_items([document], source="f")
    assert isinstance(record, Span)
    assert record.trace_id == "5b8efff798038103d269b633813fc60c"
    assert (record.name, record.kind, record.status) == ("openai.chat.completion", "client", "ok")
    assert record.resource == {"service.name": "shop"}
    assert record.attributes == {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hi",
        "gen_ai.usage.prompt_tokens": 5,
        "tags": ["x"],
    }
