"""One session has the same usage numbers through every door: events, table, golden table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.api.running.sources import recorded_pairs
from carob.metrics import Metric
from carob.metrics.usage.cost import Cost
from carob.metrics.usage.efficiency import (
    InferenceCallCount,
    ToolCallCount,
    TurnDuration,
    TurnTokens,
)
from carob.metrics.usage.latency import Latency
from carob.metrics.usage.token_usage import (
    CacheEfficiency,
    ContextSaturation,
    OutputDensity,
    Thinking,
    TokenUsage,
)
from carob.schema import Case, Json, Score, Span, Trace, Usage
from carob.traces.containers.event_spans import are_event_spans
from carob.traces.containers.flat import span_of
from carob.traces.containers.simulation import with_spans
from carob.traces.read import read_traces
from carob.traces.simulation_row import add_table_columns

METRICS: tuple[Metric, ...] = (
    Cost(),
    TokenUsage(),
    CacheEfficiency(),
    Thinking(),
    ContextSaturation(),
    OutputDensity(),
    Latency(),
    TurnTokens(),
    TurnDuration(),
    InferenceCallCount(),
    ToolCallCount(),
)
START = 1_767_607_200


def usage(prompt: int, candidates: int, **others: int) -> dict[str, Json]:
    return {"prompt_token_count": prompt, "candidates_token_count": candidates, **others}


def event(
    second: float, turn: int, author: str, part: dict[str, Json], tokens: Json = None
) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "author": author,
        "invocation_id": f"e-{turn}",
        "timestamp": START + second,
        "content": {"parts": [part]},
    }
    if tokens is not None:
        fields |= {"usage_metadata": tokens, "model_version": "gemini-2.5-flash"}
    return fields


def call(name: str, number: int) -> dict[str, Json]:
    return {"function_call": {"name": name, "args": {"order": number}, "id": f"c{number}"}}


def result(name: str, number: int) -> dict[str, Json]:
    response: Json = {"status": "shipped"}
    return {"function_response": {"name": name, "id": f"c{number}", "response": response}}


EVENTS = [
    event(0.0, 1, "user", {"text": "Where is order 7?"}),
    event(1.5, 1, "shop", call("find", 7), usage(1000, 20, thoughts_token_count=80)),
    event(2.0, 1, "shop", result("find", 7)),
    event(4.0, 1, "shop", {"text": "It is on its way."}, usage(1200, 40)),
    event(9.0, 2, "user", {"text": "And order 8?"}),
    event(9.5, 2, "shop", call("find", 8), usage(1500, 20, cached_content_token_count=900)),
    event(9.75, 2, "shop", result("find", 8)),
    event(10.0, 2, "shop", call("notify", 8), usage(1600, 10, tool_use_prompt_token_count=30)),
    event(10.25, 2, "shop", result("notify", 8)),
    event(12.0, 2, "shop", {"text": "Too, and you get a message."}, usage(1700, 30)),
]
SESSION: dict[str, Json] = {"id": "s-1", "app_name": "shop", "user_id": "u", "events": [*EVENTS]}


def converted(*, seconds: float = 1.0, shared_trace: bool = False) -> list[dict[str, Any]]:
    """Spans as converters make them from events: a span per step, whoever took it."""
    spans: list[dict[str, Any]] = []

    def add(name: str, start: Any, parent: str | None, attributes: dict[str, Any]) -> str:
        key = f"{len(spans) + 1:016x}"
        trace = "f" * 32 if shared_trace else f"{len(spans) + 1:032x}"
        times = {"start_time": int(start * 1e9), "end_time": int((start + seconds) * 1e9)}
        names = {"name": name, "span_id": key, "trace_id": trace, "parent_span_id": parent}
        spans.append({**names, **times, "attributes": attributes})
        return key

    agent = None
    for item in EVENTS:
        fields: dict[str, Any] = item
        part = fields["content"]["parts"][0]
        if fields["author"] == "user":
            turn = add("invocation", fields["timestamp"], None, {})
            agent = add("invoke_agent shop", fields["timestamp"], turn, {})
            continue
        tool = part.get("function_call") or part.get("function_response")
        attributes: dict[str, Any] = {
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": fields.get("model_version", "unknown"),
        }
        if tokens := fields.get("usage_metadata"):
            attributes["gen_ai.usage.input_tokens"] = tokens["prompt_token_count"]
            attributes["gen_ai.usage.output_tokens"] = tokens["candidates_token_count"]
            reported = json.dumps({"usage_metadata": tokens})
            attributes["gcp.vertex.agent.llm_response"] = reported
        name = f"execute_tool {tool['name']}" if tool else "call_llm"
        add(name, fields["timestamp"], agent, attributes)
    return spans


def row(**columns: Any) -> dict[str, Any]:
    tools = [
        {"tool_name": name, "input_arguments": {"order": number}, "output_result": "shipped"}
        for name, number in (("find", 7), ("find", 8), ("notify", 8))
    ]
    return {
        "eval_id": "orders",
        "user_inputs": ["Where is order 7?", "And order 8?"],
        "final_response": "Too, and you get a message.",
        "extracted_data": {"state_variables": {}, "tool_interactions": tools},
        **columns,
    }


def numbers(trace: Trace) -> dict[str, tuple[float, dict[str, Json]]]:
    outcomes = {metric.name: metric.score(Case(id="c"), trace) for metric in METRICS}
    return {
        name: (outcome.value, outcome.details)
        for name, outcome in outcomes.items()
        if isinstance(outcome, Score)
    }


def read_one(tmp_path: Path, name: str, content: Json) -> Trace:
    path = tmp_path / name
    path.write_text(json.dumps(content))
    (trace,) = read_traces([path], report=lambda _: None)
    return trace


def read_golden(tmp_path: Path, content: Json) -> Trace:
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps(content))
    (pair,) = recorded_pairs(carob.load(path).cases)
    return pair.trace


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, tuple[float, dict[str, Json]]]:
    """The numbers of the events, none of which is missing."""
    pytest.importorskip("genai_prices")
    found = numbers(read_one(tmp_path, "session.json", SESSION))
    assert found.keys() == {metric.name for metric in METRICS}
    assert found["token_usage"][0] == 7000 + 120 + 80 + 30
    assert found["latency"][1]["first_response_ms"] == 1500
    return found


@pytest.mark.parametrize("shared_trace", [False, True])
@pytest.mark.parametrize("session", [None, SESSION])
def test_tables_have_the_numbers_of_the_events(
    tmp_path: Path, expected: dict[str, Any], shared_trace: bool, session: Json
):
    columns: dict[str, Any] = {"session_trace": converted(shared_trace=shared_trace)}
    table = row(**columns, **({"final_session_state": session} if session else {}))
    assert numbers(read_one(tmp_path, "table.jsonl", table)) == expected
    assert numbers(read_golden(tmp_path, table)) == expected


def test_session_without_user_inputs_is_read_from_its_events(
    tmp_path: Path, expected: dict[str, Any]
):
    table = row(session_trace=converted(), session_state=SESSION)
    del table["user_inputs"], table["extracted_data"]
    assert numbers(read_one(tmp_path, "table.jsonl", table)) == expected


def test_captured_tables_have_the_numbers_of_the_trace(tmp_path: Path, expected: dict[str, Any]):
    trace = read_one(tmp_path, "session.json", SESSION)
    found = numbers(with_spans(add_table_columns(trace, "orders")))
    del found["latency"], expected["latency"]  # written spans start where the last one ended
    assert found == expected


def test_tool_spans_of_any_length_pass_their_tokens_to_the_model_call(tmp_path: Path):
    table = row(session_trace=converted(seconds=0.25, shared_trace=True))
    trace = read_one(tmp_path, "table.jsonl", table)
    assert trace.usage == Usage(7000, 200, 900, None, 80, 30)
    models = [call for call in trace.model_calls if call.model == "gemini-2.5-flash"]
    assert len(models) == len(trace.model_calls) == 5
    tools = trace.turns[-1].tool_calls
    assert tools
    assert models[0].end == tools[0].start


def test_real_spans_of_one_second_are_no_events():
    def spans(**changes: Any) -> list[Span]:
        return [span_of({**span, **changes}) for span in converted(shared_trace=True)]

    assert are_event_spans(spans())
    assert not are_event_spans(spans(attributes={}))
    assert not are_event_spans(spans(end_time=None))
    assert not are_event_spans([])
