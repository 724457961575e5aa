from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items

TRACE: dict[str, Json] = {
    "object": "trace",
    "id": "trace_1",
    "workflow_name": "Support",
    "group_id": "chat-7",
}


def span(key: str, parent: str | None, data: Json, error: Json = None) -> dict[str, Json]:
    return {
        "object": "trace.span",
        "id": key,
        "trace_id": "trace_1",
        "parent_id": parent,
        "started_at": "2026-01-05T10:00:00.000000+00:00",
        "ended_at": "2026-01-05T10:00:01.000000+00:00",
        "span_data": data,
        "error": error,
    }


def read(document: Json) -> list[Span]:
    return [item for item in read_items([document], source="f") if isinstance(item, Span)]


def test_span_data_becomes_attributes():
    data: Json = {"type": "function", "name": "lookup", "input": '{"id": 1}', "output": "ok"}
    error: Json = {"message": "Error running tool", "data": {}}
    (record,) = read({"data": [span("span_2", "span_1", data, error)]})
    assert record.attributes == {
        "openai_agents.type": "function",
        "openai_agents.name": "lookup",
        "openai_agents.input": '{"id": 1}',
        "openai_agents.output": "ok",
        "openai_agents.error": error,
    }
    assert (record.name, record.status) == ("lookup", "error")
    assert record.status_message == "Error running tool"


def test_trace_is_the_root_of_its_spans():
    agent = span("span_1", None, {"type": "agent", "name": "triage"})
    root, child = read({"data": [TRACE, agent]})
    assert (root.span_id, root.name) == ("trace_1", "Support")
    assert root.attributes["openai_agents.group_id"] == "chat-7"
    assert (child.trace_id, child.parent_id) == ("trace_1", "trace_1")


def test_trace_may_contain_its_spans():
    document: Json = {**TRACE, "spans": [span("span_1", None, {"type": "agent", "name": "triage"})]}
    assert [record.span_id for record in read(document)] == ["trace_1", "span_1"]


def test_traces_and_spans_may_be_beside_each_other():
    trace: Json = {"object": "trace", "id": "trace_1", "workflow_name": "w"}
    inner = span("s1", None, {"type": "agent", "name": "shop"})
    assert [item.name for item in read({"traces": [trace], "spans": [inner]})] == ["w", "shop"]
