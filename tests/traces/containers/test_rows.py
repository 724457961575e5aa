from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"
START = 1_700_000_000_000_000_000
WHEN = "2023-11-14T22:13:20Z"

ROWS: dict[str, dict[str, Json]] = {
    "honeycomb": {
        "Timestamp": WHEN,
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
        "timestamp": WHEN,
        "operation_Id": TRACE,
        "id": SPAN,
        "operation_ParentId": "",
        "name": "chat",
        "duration": 1000,
        "customDimensions": '{"n": 1}',
    },
    "workspace": {
        "TimeGenerated": WHEN,
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
        "startTime": WHEN,
        "durationInNanos": 10**9,
        "span.attributes.n": 1,
        "span.attributes.gen_ai@system": "openai",
    },
    "elastic": {
        "@timestamp": WHEN,
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
        "startTime": WHEN,
        "endTime": "2023-11-14T22:13:21Z",
        "labels": {"n": 1},
    },
}


def read(item: Json) -> Span:
    (found,) = read_items([item], source="f")
    assert isinstance(found, Span)
    return found


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_each_store_has_its_own_names_for_the_same(row: dict[str, Json]):
    found = read(row)
    assert (found.trace_id, found.span_id, found.parent_id) == (TRACE, SPAN, None)
    assert (found.name, found.start, found.end) == ("chat", START, START + 10**9)
    assert (found.attributes["n"], found.status) == (1, "unset")


def test_opensearch_writes_dots_as_another_sign():
    assert read(ROWS["opensearch"]).attributes == {"n": 1, "gen_ai.system": "openai"}


@pytest.mark.parametrize(
    ("store", "failure"),
    [("datadog", {"error": 1}), ("application insights", {"success": "False"})],
)
def test_a_row_states_that_the_span_failed(store: str, failure: dict[str, Json]):
    assert read({**ROWS[store], **failure}).status == "error"


def test_a_row_without_a_span_of_its_own_is_a_log_record():
    (found,) = read_items(
        [
            {
                "timestamp": WHEN,
                "operation_Id": TRACE,
                "operation_ParentId": SPAN,
                "message": '{"content": "Hi"}',
                "customDimensions": '{"event.name": "gen_ai.user.message"}',
            }
        ],
        source="f",
    )
    assert isinstance(found, LogRecord)
    assert (found.span_id, found.event.name) == (SPAN, "gen_ai.user.message")
    assert found.event.body == {"content": "Hi"}


ROW = ROWS["honeycomb"]
FRAMES: dict[str, Json] = {
    "query": {"tables": [{"columns": [{"name": key} for key in ROW], "rows": [[*ROW.values()]]}]},
    "split": {"columns": [*ROW], "index": [0], "data": [[*ROW.values()]]},
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_tables_that_name_their_columns_once_are_read_row_by_row(frame: Json):
    assert read(frame) == read(ROW)


def test_pandas_writes_a_dataframe_by_column_or_by_index():
    row: dict[str, Json] = {
        "context.trace_id": TRACE,
        "context.span_id": SPAN,
        "name": "chat",
        "start_time": START // 10**6,
        "attributes.llm.model_name": "gpt-4o",
    }
    by_column: Json = {key: {"0": value} for key, value in row.items()}
    assert read(by_column) == read({"0": row}) == read(json.dumps(row)) == read(row)
