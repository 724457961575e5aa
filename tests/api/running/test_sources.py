from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

import carob
from carob.api.running.sources import check_report_path
from carob.errors import UsageError
from carob.schema import Json

NANOS = 1_767_607_200_000_000_000


def test_simulation_table_alone_has_tokens_times_and_tools(tmp_path: Path):
    usage = {"prompt_token_count": 1000, "candidates_token_count": 200, "thoughts_token_count": 50}
    response = {"usage_metadata": {**usage, "cached_content_token_count": 400}}
    span: Json = {
        "name": "call_llm",
        "span_id": "a1",
        "trace_id": "t1",
        "start_time": NANOS,
        "end_time": NANOS + 2_000_000_000,
        "attributes": {"gcp.vertex.agent.llm_response": json.dumps(response)},
    }
    row: dict[str, Json] = {
        "eval_id": "order",
        "user_inputs": ["Hi", "Where is order 7?"],
        "final_response": "In two days.",
        "extracted_data": {"tool_interactions": [{"tool_name": "find", "input_arguments": {}}]},
        "session_trace": [span],
        "reference_data": {"reference_tool_interactions": [{"tool_name": "find"}]},
    }
    path = tmp_path / "simulation.jsonl"
    path.write_text(json.dumps(row))
    metrics = ["thinking_metrics", "cache_efficiency", "latency", "tool_usage_accuracy"]
    (result,) = carob.run(golden=path, metrics=metrics).cases
    assert [score.value for score in result.scores] == [0.2, 0.4, 2000.0, 1.0]


def test_large_report_is_replaced_without_being_read(tmp_path: Path):
    report = tmp_path / "run.json"
    report.write_bytes(b'{\n  "schema": "carob.run/1",\n  "cases": [' + b"0," * 100_000)
    tracemalloc.start()
    try:
        check_report_path(report)
        assert tracemalloc.get_traced_memory()[1] < 50_000
    finally:
        tracemalloc.stop()
    golden = tmp_path / "golden.csv"
    golden.write_text("Input,ExpectedOutput\nHello,Hi\n")
    with pytest.raises(UsageError, match=r"golden\.csv contains golden data"):
        check_report_path(golden)
