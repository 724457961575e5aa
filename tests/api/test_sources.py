from __future__ import annotations

import json
from pathlib import Path

import carob
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
