"""Stores with a vocabulary of their own: failures, sessions, and spans that are no work."""

from __future__ import annotations

import json

from carob.schema import Json, Trace
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import assemble


def read(*values: Json) -> list[Trace]:
    records = list(read_items(values, source="f"))
    spans = [record for record in records if not isinstance(record, Trace | LogRecord)]
    groups = assemble(spans, source="f", report=lambda problem: None)
    return [trace for group in groups.values() for trace in to_traces(group, source="f")]


def helicone(**fields: Json) -> dict[str, Json]:
    return {
        "request_id": "r-1",
        "request_created_at": "2026-03-03T09:00:00Z",
        "response_created_at": "2026-03-03T09:00:01Z",
        "request_body": {"model": "atlas-2", "messages": [{"role": "user", "content": "Hi"}]},
        "response_body": {"choices": [{"message": {"role": "assistant", "content": "Hello"}}]},
        "response_status": 200,
        "prompt_tokens": 3,
        "completion_tokens": 1,
        **fields,
    }


def test_request_of_helicone_is_a_model_call_of_its_session():
    properties = json.dumps({"Helicone-Session-Id": "s-1"})
    (trace,) = read({"data": [helicone(request_properties=properties)]})
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello")]
    assert (trace.conversation, trace.models, trace.usage.input_tokens) == ("s-1", ("atlas-2",), 3)


def test_failed_request_of_helicone_has_no_answer():
    body: Json = {"error": {"message": "rate limit"}}
    (trace,) = read(helicone(response_status=429, response_body=body))
    assert (trace.turns[0].response, trace.turns[0].error) == (None, "status 429")


def weave(key: str, parent: str | None, operation: str, **fields: Json) -> Json:
    call: dict[str, Json] = {"id": key, "trace_id": "t", "parent_id": parent}
    call |= {"op_name": f"weave:///a/b/op/{operation}:1", "started_at": "2026-03-03T09:00:00Z"}
    return call | {"inputs": {}, "output": None, **fields}


def test_calls_around_a_model_call_of_weave_do_not_count_its_tokens_again():
    summary: Json = {"usage": {"atlas-2": {"prompt_tokens": 3, "completion_tokens": 1}}}
    (trace,) = read(
        weave("1", None, "answer", inputs={"question": "Hi"}, output="Hello", summary=summary),
        weave("2", "1", "plan", summary=summary),
        weave("3", "2", "openai.chat.completions.create", summary=summary, output="Hello"),
    )
    assert (trace.usage.input_tokens, trace.models) == (3, ("atlas-2",))


def test_scores_in_braintrust_are_not_the_agents_work():
    def row(key: str, kind: str, parents: Json, **fields: Json) -> Json:
        attributes: Json = {"name": kind, "type": kind}
        ids: dict[str, Json] = {"span_id": key, "root_span_id": "1", "span_parents": parents}
        return ids | {"id": key, "span_attributes": attributes, "created": 1772528400, **fields}

    (trace,) = read(
        row("1", "eval", None, input="Hi", output="Hello"),
        row("2", "score", ["1"], input="Hi", output={"score": 1}),
        row("3", "llm", ["2"], input="Is it good?", output="Yes", metrics={"prompt_tokens": 9}),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello")]
    assert trace.usage.input_tokens is None
