from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span
from carob.traces.containers import LogRecord, read_items
from carob.traces.reading.assemble import assemble

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
def test_the_span_is_found_in_every_kind_of_log_event(item: Json):
    (found,) = read_items([[item]], source="f")
    assert isinstance(found, Span)
    assert (found.trace_id, found.kind, found.status) == (TRACE, "client", "unset")
    assert (found.scope, found.resource) == ("strands.telemetry.tracer", {"service.name": "shop"})


def test_logs_in_a_second_file_join_their_span():
    spans = read_items([[{"raw_otel_json": SPAN}]], source="spans.json")
    logs = read_items([[{"raw_otel_json": LOG}]], source="logs.json")
    records = [item for item in (*logs, *spans) if isinstance(item, Span | LogRecord)]
    traces = assemble(records, source="", report=lambda problem: None)
    ((found,),) = traces.values()
    assert [(e.name, e.body) for e in found.events] == [
        ("gen_ai.user.message", {"content": [{"text": "Hi"}]})
    ]
