from __future__ import annotations

import json

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def observation(**fields: Json) -> dict[str, Json]:
    return {
        "id": "obs-1",
        "traceId": "trace-1",
        "type": "GENERATION",
        "name": "chat",
        "startTime": "2026-01-05T10:00:00.123Z",
        "endTime": "2026-01-05T10:00:01.000Z",
        "parentObservationId": None,
        "level": "DEFAULT",
        "input": '{"messages": []}',
        "output": "Hi",
        **fields,
    }


def read(document: Json) -> list[Span]:
    return [item for item in read_items([document], source="f") if isinstance(item, Span)]


def test_original_attributes_are_restored_from_the_metadata():
    metadata = {
        "attributes": {"gen_ai.request.model": "m"},
        "scope": {"name": "pydantic-ai", "version": "1"},
        "resourceAttributes": {"service.name": "shop"},
    }
    (record,) = read(
        {"trace": {"id": "trace-1"}, "observations": [observation(metadata=json.dumps(metadata))]}
    )
    assert record.attributes["gen_ai.request.model"] == "m"
    assert record.attributes["langfuse.observation.output"] == "Hi"
    assert (record.scope, record.resource) == ("pydantic-ai", {"service.name": "shop"})


def test_langfuse_fields_have_the_names_of_its_sdk():
    item = observation(
        model="gpt-x",
        usage={"input": 3, "output": 5, "total": 8},
        level="ERROR",
        statusMessage="no",
    )
    (record,) = read({"data": [item], "meta": {"page": 1}})
    assert record.attributes == {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": '{"messages": []}',
        "langfuse.observation.output": "Hi",
        "langfuse.observation.model.name": "gpt-x",
        "langfuse.observation.usage_details": {"input": 3, "output": 5, "total": 8},
    }
    assert (record.status, record.status_message) == ("error", "no")
    assert record.start == 1_767_607_200_123_000_000


def test_observations_without_a_parent_get_the_session_of_the_trace():
    child = observation(id="obs-2", parentObservationId="obs-1")
    document: Json = {
        "id": "trace-1",
        "sessionId": "s",
        "input": "Q",
        "observations": [observation(), child],
    }
    root, inner = read(document)
    assert root.attributes["langfuse.session.id"] == "s"
    assert root.attributes["langfuse.trace.input"] == "Q"
    assert (inner.parent_id, "langfuse.session.id" in inner.attributes) == ("obs-1", False)


def test_trace_with_only_its_fields_is_one_span():
    document: Json = {
        "data": [{"id": "trace-1", "name": "n", "input": "Q", "observations": ["obs-1"]}]
    }
    (record,) = read(document)
    assert record.attributes == {"langfuse.trace.name": "n", "langfuse.trace.input": "Q"}


def test_python_client_spelling_is_read():
    def snake(key: str) -> str:
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)

    item = observation(usageDetails={"input": 3}, model="m")
    renamed: dict[str, Json] = {snake(key): value for key, value in item.items()}
    assert read([renamed]) == read([item])


def test_wrapped_numbers_are_unwrapped():
    metadata: Json = {
        "attributes": {
            "gen_ai.usage.cache_read_input_tokens": '{"intValue":7}',
            "gen_ai.usage.input_tokens": "653",
            "note": '{"intValues": 1}',
        }
    }
    (record,) = read({"data": [observation(metadata=metadata)]})
    assert record.attributes["gen_ai.usage.cache_read_input_tokens"] == 7
    assert record.attributes["gen_ai.usage.input_tokens"] == "653"
    assert record.attributes["note"] == '{"intValues": 1}'


def test_ingestion_request_has_the_state_of_its_last_update():
    at = "2024-01-01T00:00:0{}Z"
    batch: Json = [
        {"type": "trace-create", "body": {"id": "t", "sessionId": "s-1", "name": "chat"}},
        {
            "type": "generation-create",
            "body": {"id": "o", "traceId": "t", "startTime": at.format(1), "input": "tide?"},
        },
        {
            "type": "generation-update",
            "body": {"id": "o", "endTime": at.format(2), "output": "six", "usage": {"input": 3}},
        },
        {"type": "score-create", "body": {"id": "x", "traceId": "t", "value": 1}},
    ]
    (record,) = read_items([{"batch": batch, "metadata": {}}], source="f")
    assert isinstance(record, Span)
    assert (record.trace_id, record.attributes["langfuse.session.id"]) == ("t", "s-1")
    assert {
        key: record.attributes[f"langfuse.observation.{key}"] for key in ("type", "output")
    } == {
        "type": "generation",
        "output": "six",
    }
    assert record.end is not None


def test_observations_without_times_are_known_by_their_type():
    inner: Json = {"id": "o1", "traceId": "t1", "type": "generation", "input": "Hi", "output": "Yo"}
    (span,) = read({"observations": [inner]})
    assert (span.trace_id, span.start) == ("t1", None)
    assert span.attributes["langfuse.observation.type"] == "generation"
