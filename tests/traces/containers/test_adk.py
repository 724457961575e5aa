from __future__ import annotations

import json

import pytest

from carob.schema import AgentMessage, Json, ModelCall, ToolCall, Trace, Usage
from carob.traces.containers.detect import read_items

USER: dict[str, Json] = {
    "author": "user",
    "invocation_id": "e-1",
    "timestamp": 1_767_607_200.5,
    "content": {"role": "user", "parts": [{"text": "Where is order 7?"}]},
}
CALL: dict[str, Json] = {
    "author": "support",
    "invocation_id": "e-1",
    "timestamp": 1_767_607_201.0,
    "model_version": "gemini-x",
    "finish_reason": "STOP",
    "usage_metadata": {
        "prompt_token_count": 100,
        "candidates_token_count": 10,
        "thoughts_token_count": 5,
        "cached_content_token_count": None,
        "total_token_count": 115,
    },
    "content": {
        "role": "model",
        "parts": [
            {"text": "I should look it up.", "thought": True},
            {"text": "One moment."},
            {"function_call": {"id": "adk-1", "name": "find_order", "args": {"order_id": "7"}}},
        ],
    },
    "actions": {"state_delta": {"order": "7", "temp:x": 1}},
}
RESULT: dict[str, Json] = {
    "author": "support",
    "invocation_id": "e-1",
    "timestamp": 1_767_607_202.0,
    "content": {
        "role": "user",
        "parts": [
            {"function_response": {"id": "adk-1", "name": "find_order", "response": {"eta": 2}}}
        ],
    },
}
ANSWER: dict[str, Json] = {
    "author": "support",
    "invocation_id": "e-1",
    "timestamp": 1_767_607_203.0,
    "partial": None,
    "content": {"role": "model", "parts": [{"text": "In two days."}]},
}
EVENTS: list[Json] = [USER, CALL, RESULT, {**ANSWER, "partial": True}, ANSWER]
SESSION: dict[str, Json] = {
    "id": "s-1",
    "app_name": "shop",
    "user_id": "u",
    "state": {"order": "7"},
    "events": EVENTS,
}


def read(document: Json) -> Trace:
    (trace,) = read_items([document], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_session_is_read_in_full():
    trace = read(SESSION)
    (turn,) = trace.turns
    assert (trace.id, trace.conversation, trace.state) == ("s-1", "s-1", {"order": "7"})
    assert (turn.id, turn.user, turn.response) == ("e-1", "Where is order 7?", "In two days.")
    assert [(c.name, c.args, c.id, c.agent) for c in turn.tool_calls or ()] == [
        ("find_order", {"order_id": "7"}, "adk-1", "support")
    ]
    assert [(r.name, r.result, r.error) for r in turn.tool_results] == [
        ("find_order", {"eta": 2}, None)
    ]
    assert turn.messages == (AgentMessage(agent="support", text="One moment."),)
    assert (turn.agents, trace.duration_ms) == (("support",), 2500.0)


def test_thoughts_count_as_output_tokens_and_are_not_messages():
    trace = read(SESSION)
    assert trace.models == ("gemini-x",)
    assert trace.usage == Usage(
        input_tokens=100, output_tokens=15, reasoning_tokens=5, total_tokens=115
    )


def test_camel_case_reads_the_same():
    def camel(value: Json) -> Json:
        if isinstance(value, list):
            return [camel(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {_camel(key): camel(item) for key, item in value.items()}

    def _camel(key: str) -> str:
        head, *rest = key.split("_")
        return head + "".join(word.title() for word in rest) if key != "order_id" else key

    assert read(camel(SESSION)) == read(SESSION)


def test_state_is_read_from_event_deltas():
    trace = read(EVENTS)
    assert trace.state == {"order": "7"}
    assert trace.turns == read(SESSION).turns


def test_history_in_a_string_has_its_case_ids():
    result: Json = {
        "eval_set_file": "shop.json",
        "eval_set_id": "shop",
        "eval_id": "order_7",
        "final_eval_status": 1,
        "eval_metric_results": None,
        "session_id": "s-1",
        "session_details": SESSION,
    }
    history: Json = {"eval_set_result_id": "r1", "eval_case_results": [result]}
    trace = read(json.dumps(history))
    assert (trace.id, trace.case, trace.state) == ("s-1", "order_7", {"order": "7"})
    assert trace.turns == read(SESSION).turns
    assert trace.attributes["final_eval_status"] == 1


def history(*invocations: Json, session: Json = None) -> Json:
    result: Json = {
        "eval_id": "order_7",
        "session_id": "s-1",
        "session_details": session,
        "eval_metric_result_per_invocation": [
            {"actual_invocation": invocation} for invocation in invocations
        ],
    }
    return {"evalSetResultId": "r1", "evalCaseResults": [result]}


def test_without_a_session_the_invocations_are_read():
    trace = read(
        history(
            {
                "invocation_id": "e-1",
                "user_content": USER["content"],
                "final_response": ANSWER["content"],
                "intermediate_data": {"invocation_events": [CALL, RESULT]},
                "creation_timestamp": 1_767_607_200.5,
            }
        )
    )
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Where is order 7?", "In two days.")
    assert [call.name for call in turn.tool_calls or ()] == ["find_order"]
    assert [message.text for message in turn.messages] == ["One moment."]


def test_older_intermediate_data_is_read():
    trace = read(
        history(
            {
                "user_content": USER["content"],
                "final_response": None,
                "intermediate_data": {
                    "tool_uses": [{"id": "adk-1", "name": "find_order"}],
                    "tool_responses": [{"id": "adk-1", "response": {"error": "no such order"}}],
                    "intermediate_responses": [["support", [{"text": "One moment."}]]],
                },
            }
        )
    )
    (turn,) = trace.turns
    assert (turn.response, [m.text for m in turn.messages]) == ("", ["One moment."])
    assert [(c.name, c.args) for c in turn.tool_calls or ()] == [("find_order", None)]
    assert [(r.name, r.error) for r in turn.tool_results] == [("find_order", "no such order")]


@pytest.mark.parametrize(("call", "args"), [({"args": {}}, {}), ({"args": None}, None), ({}, None)])
def test_missing_arguments_are_not_empty_arguments(call: dict[str, Json], args: Json):
    uses: Json = [{"name": "list_orders", **call}]
    trace = read(
        history({"user_content": USER["content"], "intermediate_data": {"toolUses": uses}})
    )
    assert trace.turns[0].tool_calls == (ToolCall(name="list_orders", args=args),)


CALL_EVENT: Json = {"parts": [{"function_call": {"name": "find_order", "args": {}}}]}


@pytest.mark.parametrize("final", [None, CALL_EVENT])
def test_response_without_text_is_empty_not_missing(final: Json):
    trace = read(history({"user_content": USER["content"], "final_response": final}))
    assert (trace.turns[0].response, trace.turns[0].tool_calls) == ("", ())


def timed(**times: float) -> Json:
    return {"user_content": USER["content"], **times}


def test_turn_with_only_a_timestamp_has_no_duration():
    (turn,) = read(history(timed(creation_timestamp=1_767_607_200.5))).turns
    assert (turn.start, turn.end) == (1_767_607_200_500_000_000, None)


def test_turns_with_only_durations_are_consecutive():
    trace = read(history(timed(duration=36.508), timed(duration=0.25, creation_timestamp=0.0)))
    assert [(turn.start, turn.end) for turn in trace.turns] == [
        (0, 36_508_000_000),
        (36_508_000_000, 36_758_000_000),
    ]
    late = read(history(timed(duration=2), timed(duration=1, creation_timestamp=1_767_607_200.0)))
    assert late.duration_ms == 3000.0


def test_event_with_a_model_is_a_model_call_without_usage():
    event: Json = {"author": "support", "model_version": "gemini-x", "usage_metadata": None}
    data: Json = {"invocation_events": [event, {"author": "support"}]}
    (turn,) = read(history({"user_content": USER["content"], "intermediate_data": data})).turns
    assert turn.model_calls == (ModelCall(model="gemini-x", agent="support"),)


def test_turn_of_a_session_has_the_measured_duration():
    measured: Json = {"invocation_id": "e-1", "user_content": USER["content"], "duration": 7.25}
    (turn,) = read(history(measured, session=SESSION)).turns
    assert (turn.start, turn.end) == (1_767_607_200_500_000_000, 1_767_607_207_750_000_000)
    assert turn.response == "In two days."


def test_event_without_content_is_neither_a_turn_nor_an_agent():
    events: Json = [
        {"invocation_id": "i1", "author": "user", "content": {"parts": [{"text": "Go ahead!"}]}},
        {"invocation_id": "x", "author": "model", "actions": {"state_delta": {"cart": 1}}},
        {"invocation_id": "i1", "author": "shop", "content": {"parts": [{"text": "Bought."}]}},
    ]
    trace = read({"id": "s", "app_name": "a", "events": events})
    (turn,) = trace.turns
    assert (turn.user, turn.response, turn.agents) == ("Go ahead!", "Bought.", ("shop",))
    assert trace.state == {"cart": 1}


def trpc_result(**invocation: Json) -> Json:
    """A result of tRPC-agent-go: messages with a text, and tools with their results."""
    actual: Json = {
        "invocationId": "i1",
        "userContent": {"role": "user", "content": "Which alerts are there?"},
        "finalResponse": {"role": "assistant", "content": "A festival."},
        **invocation,
    }
    return {
        "evalSetResultId": "r1",
        "evalCaseResults": [
            {
                "evalId": "alerts",
                "sessionId": "s-7",
                "evalMetricResultPerInvocation": [{"actualInvocation": actual}],
            }
        ],
    }


def test_results_of_trpc_agent_go_are_read():
    tools: Json = [
        {"id": "c1", "name": "find_news", "arguments": {"city": "Porto"}, "result": ["festival"]},
        {"id": "c2", "name": "find_time", "result": {"time": "9:00"}},
    ]
    trace = read(trpc_result(tools=tools))
    (turn,) = trace.turns
    assert (trace.id, trace.case) == ("s-7", "alerts")
    assert (turn.user, turn.response) == ("Which alerts are there?", "A festival.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("find_news", {"city": "Porto"}),
        ("find_time", None),
    ]
    assert [(result.name, result.result) for result in turn.tool_results] == [
        ("find_news", ["festival"]),
        ("find_time", {"time": "9:00"}),
    ]


def test_trpc_agent_without_tools_called_none():
    assert read(trpc_result()).turns[0].tool_calls == ()


def test_calls_of_a_remote_trpc_agent_are_unknown():
    assert read(trpc_result(executionTrace={"Steps": []})).turns[0].tool_calls is None
