"""Elastic APM: what its server stores is read like the spans that were sent to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from carob.schema import Json, Problem, Span
from carob.traces.containers.attributes import flatten_nested
from carob.traces.containers.detect import read_items
from carob.traces.containers.elastic_labels import restore_dots
from carob.traces.read import read_traces
from carob.traces.reading.json_values import read_values
from tests.captures.recordings import FOLDER

STORED = (
    "pydantic-ai-otel-parallel-calls",
    "openai-sdk-openinference-two-turns",
    "openai-sdk-openllmetry-one-call",
    "crewai-openllmetry-one-call",
    "langgraph-langsmith-two-turns",
    "langgraph-langfuse-parallel-calls",
    "openai-agents-openinference-sub-agent",
    "mastra-1-otel-two-turns",
    "vercel-6-otel-parallel-calls",
    "strands-default-two-turns",
    "crewai-openinference-one-call",
)


def path_of(name: str) -> Path:
    (path,) = FOLDER.glob(f"{name}.jsonl*")
    return path


def read_spans(name: str) -> list[Span]:
    values = read_values(path_of(name), report=lambda problem: None)
    return [record for record in read_items(values, source="f") if isinstance(record, Span)]


def to_documents(span: Span) -> Iterator[dict[str, Json]]:
    """What the server stores of a span: labels without dots, and a document per event."""
    own = "span" if span.parent_id else "transaction"
    ids: dict[str, Json] = {"trace": {"id": span.trace_id}, "transaction": {"id": span.span_id}}
    ids[own] = {"id": span.span_id}
    start = span.start or 0
    document: dict[str, Json] = {
        **ids,
        "@timestamp": "2026-03-03T09:00:00Z",
        "processor": {"event": own},
        "timestamp": {"us": start // 1000},
        **({"parent": {"id": span.parent_id}} if span.parent_id else {}),
        own: {
            "id": span.span_id,
            "name": span.name,
            "duration": {"us": ((span.end or start) - start) // 1000},
        },
        "event": {"outcome": "failure" if span.status == "error" else "success"},
        "service": {"name": "shop", "framework": {"name": span.scope}},
        **to_labels(span.attributes),
    }
    yield document
    for event in span.events:
        thrown: Json = [
            {"message": event.attributes.get("exception.message"), "type": "RuntimeError"}
        ]
        is_error = event.name == "exception"
        stored: dict[str, Json] = {
            **ids,
            "processor": {"event": "error" if is_error else "log"},
            "timestamp": {"us": (event.time or 0) // 1000},
            "message": event.name,
            "parent": {"id": span.span_id},
            **({"error": {"exception": thrown}} if is_error else to_labels(event.attributes)),
        }
        yield stored


def to_labels(attributes: dict[str, Json]) -> dict[str, Json]:
    texts: dict[str, Json] = {}
    numbers: dict[str, Json] = {}
    for key, value in attributes.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        shown = str(value).lower() if isinstance(value, bool) else value
        (numbers if is_number else texts)[key.replace(".", "_")] = shown
    return {"labels": texts, "numeric_labels": numbers}


def turns_of(path: Path) -> list[tuple[Json, ...]]:
    return [
        (
            turn.user,
            turn.response,
            [[call.name, call.args, call.agent] for call in turn.tool_calls or ()],
            [[item.name, item.result, item.error] for item in turn.tool_results],
            [[call.model, *msgspec.structs.astuple(call.usage)] for call in turn.model_calls],
        )
        for trace in read_traces([path], report=lambda problem: None)
        for turn in trace.turns
    ]


@pytest.mark.parametrize("name", STORED)
def test_stored_documents_give_the_turns_of_the_spans(name: str, tmp_path: Path):
    hits = [
        {"_index": "traces-apm-default", "_source": document}
        for span in read_spans(name)
        for document in to_documents(span)
    ]
    stored = tmp_path / "hits.json"
    stored.write_text(json.dumps({"took": 1, "hits": {"total": 1, "hits": hits}}))
    assert turns_of(stored) == turns_of(path_of(name))


@pytest.mark.parametrize(
    "name",
    [
        "gen_ai.usage.input_tokens",
        "gen_ai.input.messages",
        "gen_ai.tool.call.id",
        "gen_ai.prompt.0.tool_call_id",
        "llm.input_messages.12.message.tool_calls.0.tool_call.function.name",
        "llm.output_messages.0.message.contents.1.message_content.text",
        "llm.token_count.prompt_details.cache_read",
        "traceloop.association.properties.my_thread_id",
        "gcp.vertex.agent.tool_call_args",
        "ai.telemetry.metadata.session_id",
        "ai.toolCall.args",
    ],
)
def test_labels_get_the_dots_of_their_convention(name: str):
    assert restore_dots(name.replace(".", "_")) == name


def test_search_for_fields_gives_the_same_span():
    (stored,) = to_documents(read_spans("vercel-6-otel-one-call")[0])
    flat = flatten_nested(stored)
    listed: dict[str, Json] = {key: [value] for key, value in flat.items()}
    found: dict[str, Json] = {"_id": "1", "fields": listed}
    spans = [read_span(document) for document in (stored, flat, found)]
    assert spans[0] == spans[1] == spans[2]
    assert spans[0].attributes["ai.model.id"] == "gpt-4o-mini"


def read_span(document: Json) -> Span:
    (record,) = read_items([document], source="f")
    assert isinstance(record, Span)
    return record


def test_events_beside_the_spans_are_neither_spans_nor_unknown():
    events: list[Json] = [
        {"metadata": {"service": {"name": "shop", "agent": {"name": "python", "version": "6"}}}},
        {"metricset": {"timestamp": 1, "samples": {"cpu": {"value": 1}}}},
        {"span": {"id": "b" * 16, "trace_id": "a" * 32, "duration": 1.5, "timestamp": 10**15}},
    ]
    problems: list[Problem] = []
    (span,) = read_items(events, source="f", report=problems.append)
    assert isinstance(span, Span)
    assert (span.start, span.end, problems) == (10**18, 10**18 + 1_500_000, [])
