from __future__ import annotations

import json

from karat.schema import Json, Span, Trace
from karat.traces.formats import read_items

SPAN: Json = {
    "name": "invocation",
    "span_id": 17,
    "trace_id": 18,
    "parent_span_id": None,
    "start_time": 1_767_607_200_000_000_000,
    "end_time": 1_767_607_201_000_000_000,
    "attributes": {"gcp.vertex.agent.llm_request": "{}"},
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


def test_the_spans_of_a_row_know_their_case_and_the_final_state():
    (found,) = read_items([{**ROW, "session_trace": json.dumps([SPAN])}], source="f")
    assert isinstance(found, Span)
    assert (found.span_id, found.name) == ("0000000000000011", "invocation")
    assert found.resource == {
        "karat.case.id": "q-1",
        "karat.conversation.id": "s-1",
        "karat.state": {"order": "7"},
    }


def test_without_spans_the_session_tells():
    event: Json = {"author": "user", "content": {"parts": [{"text": "Hi"}]}}
    session: Json = {"id": "s-1", "appName": "shop", "events": [event]}
    row: Json = {**ROW, "session_trace": "[]", "final_session_state": session}
    (found,) = read_items([row], source="f")
    assert isinstance(found, Trace)
    assert (found.case, [turn.user for turn in found.turns]) == ("q-1", ["Hi"])


def test_without_spans_and_session_the_columns_tell():
    (found,) = read_items([ROW], source="f")
    assert isinstance(found, Trace)
    assert [(turn.user, turn.response) for turn in found.turns] == [
        ("Hi", None),
        ("Where is order 7?", "In two days."),
    ]
    assert found.turns[0].tool_calls is None
    assert [(c.name, c.args) for c in found.turns[1].tool_calls or ()] == [("find", {"id": 7})]
    assert (found.state, found.agents) == ({"order": "7"}, ("support",))


def test_spans_without_content_lend_their_times_to_the_columns():
    bare: Json = {
        "name": "call_llm",
        "span_id": 17,
        "trace_id": 18,
        "start_time": 1_767_607_200_000_000_000,
        "end_time": 1_767_607_201_000_000_000,
        "attributes": {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5},
    }
    (found,) = read_items([{**ROW, "session_trace": [bare]}], source="f")
    assert isinstance(found, Trace)
    assert (found.turns[-1].response, found.models) == ("In two days.", ("m",))
    assert (found.usage.input_tokens, found.duration_ms) == (5, 1000.0)
