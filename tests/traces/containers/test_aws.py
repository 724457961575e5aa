from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items
from carob.traces.reading.assemble import assemble

INNER: Json = {
    "id": "eee19b7ec3c1b175",
    "name": "chat",
    "start_time": 1_700_000_001,
    "fault": True,
    "cause": {"exceptions": [{"message": "boom"}]},
}
SEGMENT: dict[str, Json] = {
    "id": "eee19b7ec3c1b174",
    "trace_id": "1-5b8efff7-98038103d269b633813fc60c",
    "name": "shop",
    "start_time": 1_700_000_000.5,
    "end_time": 1_700_000_002,
    "annotations": {"gen_ai_system": "openai"},
    "metadata": {"default": {"gen_ai.operation.name": "invoke_agent"}},
    "subsegments": [INNER],
}


def read_segments(document: Json) -> list[Span]:
    return [item for item in read_items([document], source="f") if isinstance(item, Span)]


def test_segments_and_their_subsegments_are_spans():
    agent, chat = read_segments(SEGMENT)
    assert agent.trace_id == chat.trace_id == "5b8efff798038103d269b633813fc60c"
    assert (agent.start, agent.end) == (1_700_000_000_500_000_000, 1_700_000_002_000_000_000)
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert (chat.parent_id, chat.status) == (agent.span_id, "error")
    assert chat.status_message == "boom"


def test_segments_come_as_text_within_their_traces():
    segment: Json = {"Id": SEGMENT["id"], "Document": json.dumps(SEGMENT)}
    assert read_segments(
        {"Traces": [{"Id": "1-5b8efff7", "Segments": [segment]}]}
    ) == read_segments(SEGMENT)


TRACE = "691eb3981d03a56943bfe83732bf8aca"
SPAN: dict[str, Json] = {
    "resource": {"attributes": {"service.name": "shop"}},
    "scope": {"name": "strands.telemetry.tracer"},
    "traceId": TRACE,
    "spanId": "b480f86e7a557277",
    "name": "chat",
    "kind": "CLIENT",
    "startTimeUnixNano": 1_763_619_737_373_346_448,
    "endTimeUnixNano": 1_763_619_739_069_023_318,
    "attributes": {"gen_ai.operation.name": "chat"},
    "status": {"code": "UNSET"},
}
LOG: dict[str, Json] = {
    "scope": {"name": "botocore"},
    "timeUnixNano": 1_763_619_737_373_346_449,
    "severityNumber": 9,
    "body": {"content": [{"text": "Hi"}]},
    "attributes": {"event.name": "gen_ai.user.message"},
    "traceId": TRACE,
    "spanId": "b480f86e7a557277",
}


@pytest.mark.parametrize(
    "item",
    [
        {"timestamp": "2025-11-20 06:22:17.373", "raw_otel_json": SPAN},
        {"@timestamp": "2025-11-20", "@message": json.dumps(SPAN)},
        {"timestamp": 1_763_619_737_373, "message": json.dumps(SPAN), "ingestionTime": 1},
        [{"field": "@message", "value": json.dumps(SPAN)}, {"field": "@ptr", "value": "x"}],
    ],
    ids=["toolkit", "insights", "events", "query"],
)
def test_span_is_found_in_every_kind_of_log_event(item: Json):
    (record,) = read_items([[item]], source="f")
    assert isinstance(record, Span)
    assert (record.trace_id, record.kind, record.status) == (TRACE, "client", "unset")
    assert (record.scope, record.resource) == ("strands.telemetry.tracer", {"service.name": "shop"})


def test_logs_in_a_second_file_join_their_span():
    spans = read_items([[{"raw_otel_json": SPAN}]], source="spans.json")
    logs = read_items([[{"raw_otel_json": LOG}]], source="logs.json")
    records = [item for item in (*logs, *spans) if isinstance(item, Span | LogRecord)]
    traces = assemble(records, source="", report=lambda problem: None)
    ((record,),) = traces.values()
    assert [(e.name, e.body) for e in record.events] == [
        ("gen_ai.user.message", {"content": [{"text": "Hi"}]})
    ]
