from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"
START = 1_700_000_000_000_000_000
TIMESTAMP = "2023-11-14T22:13:20Z"

ROWS: dict[str, dict[str, Json]] = {
    "honeycomb": {
        "Timestamp": TIMESTAMP,
        "trace.trace_id": TRACE,
        "trace.span_id": SPAN,
        "name": "chat",
        "duration_ms": 1000,
        "n": 1,
    },
    "new relic": {
        "timestamp": START // 10**6,
        "trace.id": TRACE,
        "guid": SPAN,
        "name": "chat",
        "duration.ms": 1000.0,
        "n": 1,
    },
    "application insights": {
        "timestamp": TIMESTAMP,
        "operation_Id": TRACE,
        "id": SPAN,
        "operation_ParentId": "",
        "name": "chat",
        "duration": 1000,
        "customDimensions": '{"n": 1}',
    },
    "workspace": {
        "TimeGenerated": TIMESTAMP,
        "OperationId": TRACE,
        "Id": SPAN,
        "Name": "chat",
        "DurationMs": 1000,
        "Properties": {"n": 1},
    },
    "datadog": {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_id": 0,
        "name": "internal",
        "resource": "chat",
        "start": START,
        "duration": 10**9,
        "meta": {"m": "x"},
        "metrics": {"n": 1},
    },
    "opensearch": {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "chat",
        "startTime": TIMESTAMP,
        "durationInNanos": 10**9,
        "span.attributes.n": 1,
        "span.attributes.gen_ai@system": "openai",
    },
    "elastic": {
        "@timestamp": TIMESTAMP,
        "trace_id": TRACE,
        "span_id": SPAN,
        "name": "chat",
        "duration": 10**9,
        "attributes": {"n": 1},
    },
    "google cloud": {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "chat",
        "startTime": TIMESTAMP,
        "endTime": "2023-11-14T22:13:21Z",
        "labels": {"n": 1},
    },
}


def read(item: Json) -> Span:
    (record,) = read_items([item], source="f")
    assert isinstance(record, Span)
    return record


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_column_names_of_every_store_are_read(row: dict[str, Json]):
    record = read(row)
    assert (record.trace_id, record.span_id, record.parent_id) == (TRACE, SPAN, None)
    assert (record.name, record.start, record.end) == ("chat", START, START + 10**9)
    assert (record.attributes["n"], record.status) == (1, "unset")


def test_opensearch_escapes_dots():
    assert read(ROWS["opensearch"]).attributes == {"n": 1, "gen_ai.system": "openai"}


@pytest.mark.parametrize(
    ("store", "failure"),
    [("datadog", {"error": 1}), ("application insights", {"success": "False"})],
)
def test_row_with_a_failed_status_is_an_error(store: str, failure: dict[str, Json]):
    assert read({**ROWS[store], **failure}).status == "error"


def test_row_without_a_span_id_is_a_log_record():
    (record,) = read_items(
        [
            {
                "timestamp": TIMESTAMP,
                "operation_Id": TRACE,
                "operation_ParentId": SPAN,
                "message": '{"content": "Hi"}',
                "customDimensions": '{"event.name": "gen_ai.user.message"}',
            }
        ],
        source="f",
    )
    assert isinstance(record, LogRecord)
    assert (record.span_id, record.event.name) == (SPAN, "gen_ai.user.message")
    assert record.event.body == {"content": "Hi"}


ROW = ROWS["honeycomb"]
FRAMES: dict[str, Json] = {
    "query": {"tables": [{"columns": [{"name": key} for key in ROW], "rows": [[*ROW.values()]]}]},
    "split": {"columns": [*ROW], "index": [0], "data": [[*ROW.values()]]},
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_tables_with_a_column_list_are_read_by_row(frame: Json):
    assert read(frame) == read(ROW)


def test_dataframe_may_be_oriented_by_column_or_index():
    row: dict[str, Json] = {
        "context.trace_id": TRACE,
        "context.span_id": SPAN,
        "name": "chat",
        "start_time": START // 10**6,
        "attributes.llm.model_name": "gpt-4o",
    }
    by_column: Json = {key: {"0": value} for key, value in row.items()}
    assert read(by_column) == read({"0": row}) == read(json.dumps(row)) == read(row)
