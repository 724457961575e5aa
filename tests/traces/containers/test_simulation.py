from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span, ToolCall, Trace, Turn, Usage
from carob.traces.containers.detect import read_items
from carob.traces.containers.simulation import with_spans

SPAN: dict[str, Json] = {
    "name": "invocation",
    "span_id": 17,
    "trace_id": 18,
    "parent_span_id": None,
    "start_time": 1_767_607_200_000_000_000,
    "end_time": 1_767_607_201_000_000_000,
    "attributes": {"gcp.vertex.agent.llm_request": "{}"},
}
MODEL: dict[str, Json] = {
    "name": "call_llm",
    "attributes": {
        "gcp.vertex.agent.llm_response": json.dumps(
            {
                "usage_metadata": {
                    "prompt_token_count": 1000,
                    "candidates_token_count": 200,
                    "thoughts_token_count": 50,
                    "cached_content_token_count": 400,
                    "tool_use_prompt_token_count": None,
                }
            }
        )
    },
}
TOOL: dict[str, Json] = {
    "name": "execute_tool find",
    "span_id": 19,
    "parent_span_id": 17,
    "start_time": 1_767_607_200_200_000_000,
    "end_time": 1_767_607_200_600_000_000,
    "attributes": {"converter.note": "no content"},
}
ROW: dict[str, Json] = {
    "question_id": "q-1",
    "session_id": "s-1",
    "user_inputs": json.dumps(["Hi", "Where is order 7?"]),
    "final_response": "In two days.",
    "sub_agent_trace": json.dumps([{"agent_name": "support", "text_response": "In two days."}]),
    "extracted_data": json.dumps(
        {
            "state_variables": {"order": "7"},
            "tool_interactions": [
                {"tool_name": "find", "input_arguments": {"id": 7}, "output_result": "2 days"}
            ],
        }
    ),
}


def test_spans_of_a_row_have_its_case_and_final_state():
    (record,) = read_items([{**ROW, "session_trace": json.dumps([SPAN])}], source="f")
    assert isinstance(record, Span)
    assert (record.span_id, record.name) == ("0000000000000011", "invocation")
    assert record.resource == {
        "carob.case.id": "q-1",
        "carob.conversation.id": "s-1",
        "carob.state": {"order": "7"},
    }


def test_without_spans_the_session_is_read():
    event: Json = {"author": "user", "content": {"parts": [{"text": "Hi"}]}}
    session: Json = {"id": "s-1", "appName": "shop", "events": [event]}
    row: Json = {**ROW, "session_trace": "[]", "final_session_state": session}
    (record,) = read_items([row], source="f")
    assert isinstance(record, Trace)
    assert (record.case, [turn.user for turn in record.turns]) == ("q-1", ["Hi"])


def test_without_spans_and_session_the_columns_are_read():
    (record,) = read_items([ROW], source="f")
    assert isinstance(record, Trace)
    assert [(turn.user, turn.response) for turn in record.turns] == [
        ("Hi", None),
        ("Where is order 7?", "In two days."),
    ]
    assert record.turns[0].tool_calls == ()
    assert [(c.name, c.args) for c in record.turns[1].tool_calls or ()] == [("find", {"id": 7})]
    assert (record.state, record.agents) == ({"order": "7"}, ("support",))


def test_spans_without_content_add_their_times_to_the_columns():
    bare: Json = {
        "name": "call_llm",
        "span_id": 17,
        "trace_id": 18,
        "start_time": 1_767_607_200_000_000_000,
        "end_time": 1_767_607_201_000_000_000,
        "attributes": {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5},
    }
    (record,) = read_items([{**ROW, "session_trace": [bare]}], source="f")
    assert isinstance(record, Trace)
    assert (record.turns[-1].response, record.models) == ("In two days.", ("m",))
    assert (record.usage.input_tokens, record.duration_ms) == (5, 1000.0)


def test_spans_add_times_and_model_calls_to_the_columns_of_a_row():
    recorded = Trace(
        id="s-1",
        turns=(
            Turn(user="Hi", tool_calls=()),
            Turn(
                user="Where is order 7?",
                response="In two days.",
                tool_calls=(ToolCall(name="find", args={"id": 7}),),
            ),
        ),
        attributes={"session_trace": [SPAN | MODEL, SPAN | TOOL]},
    )
    first, last = with_spans(recorded).turns
    assert first == Turn(user="Hi", tool_calls=())
    assert (last.user, last.response) == ("Where is order 7?", "In two days.")
    assert [(call.args, call.start, call.end) for call in last.tool_calls or ()] == [
        ({"id": 7}, 1_767_607_200_200_000_000, 1_767_607_200_600_000_000)
    ]
    assert [call.usage for call in last.model_calls] == [
        Usage(input_tokens=1000, output_tokens=250, cached_tokens=400, reasoning_tokens=50)
    ]
    assert (last.start, last.end) == (1_767_607_200_000_000_000, 1_767_607_201_000_000_000)


def test_row_without_spans_is_read_from_its_columns():
    recorded = Trace(id="s-1", turns=(Turn(user="Hi"),))
    assert with_spans(recorded) is recorded


def test_session_of_a_row_adds_its_events_and_state():
    event: dict[str, Json] = {"author": "support", "timestamp": 1_767_607_201.0}
    usage: Json = {"promptTokenCount": 9}
    question: Json = {"author": "user", "timestamp": 1_767_607_200.0, "content": "Hi"}
    session: Json = {
        "state": {"order": "7"},
        "events": [question, {**event, "usageMetadata": usage}],
    }
    recorded = Trace(id="s-1", turns=(Turn(user="Hi"),), attributes={"finalSessionState": session})
    trace = with_spans(recorded)
    assert (trace.state, trace.usage, trace.duration_ms) == (
        {"order": "7"},
        Usage(input_tokens=9),
        1000.0,
    )


@pytest.mark.parametrize("start", [0, 1_000_000_000, 5_000_000_000_000, 1_767_607_200_000_000_000])
def test_times_relative_to_the_session_start_are_nanoseconds(start: int):
    spans: Json = [{**SPAN, "start_time": start, "end_time": start + 12_000_000_000}]
    recorded = Trace(id="s-1", turns=(Turn(user="Hi"),), attributes={"session_trace": spans})
    assert with_spans(recorded).duration_ms == 12_000.0


def test_unit_of_a_time_follows_from_its_size():
    spans: Json = [{**SPAN, "start_time": 1_767_607_200, "end_time": 1_767_607_212}]
    recorded = Trace(id="s-1", turns=(Turn(user="Hi"),), attributes={"session_trace": spans})
    assert with_spans(recorded).duration_ms == 12_000.0
