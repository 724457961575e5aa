from __future__ import annotations

import json

import pytest

from carob.errors import UnknownFormatError
from carob.schema import Json, Trace, Turn, Usage
from carob.traces.containers.detect import read_items
from carob.traces.mapping.sessions import merge_sessions

CALL: Json = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}
    ],
}
RESULT: Json = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
DIALOGUE: list[Json] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Where is order 7?"},
    CALL,
    RESULT,
    {"role": "assistant", "content": "It was shipped."},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "You are welcome."},
]


def read(*values: Json) -> Trace:
    (trace,) = read_items(values, source="f")
    assert isinstance(trace, Trace)
    return trace


def summarize(turn: Turn) -> list[Json]:
    calls: list[Json] = [[call.name, call.args, call.id] for call in turn.tool_calls or ()]
    results: list[Json] = [[item.name, item.result] for item in turn.tool_results]
    return [turn.user, calls, results, turn.response]


EXPECTED: list[Json] = [
    ["Where is order 7?", [["find", {"id": 7}, "c1"]], [["find", "shipped"]], "It was shipped."],
    ["Thanks", [], [], "You are welcome."],
]


def test_user_messages_start_turns():
    assert [summarize(turn) for turn in read(DIALOGUE).turns] == EXPECTED


def test_one_message_per_line_is_one_trace():
    assert read(*DIALOGUE).turns == read(DIALOGUE).turns


def test_tau_bench_task_has_its_case_id():
    trace = read([{"task_id": 4, "trial": 1, "reward": 1.0, "traj": DIALOGUE, "info": {}}])
    assert (trace.id, trace.case, trace.attributes) == ("4#1", "4", {"reward": 1.0, "trial": 1})
    assert trace.turns == read(DIALOGUE).turns


def test_record_with_messages_preserves_its_id():
    trace = read({"id": "x", "messages": DIALOGUE, "session_id": "s"})
    assert (trace.id, trace.conversation) == ("x", "s")


def test_same_messages_have_the_same_id():
    assert read(DIALOGUE).id == read(list(DIALOGUE)).id
    assert read(DIALOGUE).id != read(DIALOGUE[:5]).id


ANTHROPIC: list[Json] = [
    {"role": "user", "content": "Where is order 7?"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 7}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "shipped"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It was shipped."}]},
]
BEDROCK: list[Json] = [
    {"role": "user", "content": [{"text": "Where is order 7?"}]},
    {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": 7}}}],
    },
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "shipped"}]}}],
    },
    {"role": "assistant", "content": [{"text": "It was shipped."}]},
]
RESPONSES: list[Json] = [
    {"role": "user", "content": "Where is order 7?"},
    {"type": "reasoning", "content": []},
    {"type": "function_call", "call_id": "c1", "id": "fc", "name": "find", "arguments": '{"id":7}'},
    {"type": "function_call_output", "call_id": "c1", "output": "shipped"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It was shipped."}],
    },
]
LANGCHAIN: list[Json] = [
    {"type": "human", "data": {"content": "Where is order 7?"}},
    {
        "type": "ai",
        "data": {"content": "", "tool_calls": [{"id": "c1", "name": "find", "args": {"id": 7}}]},
    },
    {"type": "tool", "data": {"content": "shipped", "tool_call_id": "c1"}},
    {"type": "ai", "data": {"content": "It was shipped."}},
]


GEMINI: list[Json] = [
    {"role": "user", "parts": [{"text": "Where is order 7?"}]},
    {
        "role": "model",
        "parts": [{"functionCall": {"id": "c1", "name": "find", "args": {"id": 7}}}],
    },
    {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": "shipped"}}],
    },
    {"role": "model", "parts": [{"text": "It was shipped."}]},
]
TAU2: list[Json] = [
    {"role": "user", "content": "Where is order 7?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "name": "find", "arguments": {"id": 7}}],
    },
    {"role": "tool", "tool_messages": [{"role": "tool", "id": "c1", "content": "shipped"}]},
    {"role": "tool", "id": "u1", "content": "the user's own", "requestor": "user"},
    {"role": "assistant", "content": "It was shipped."},
]


@pytest.mark.parametrize(
    "dialogue",
    [ANTHROPIC, BEDROCK, RESPONSES, LANGCHAIN, GEMINI, TAU2],
    ids=["anthropic", "bedrock", "responses", "langchain", "gemini", "tau2"],
)
def test_every_message_dialect_gives_the_same_turn(dialogue: list[Json]):
    assert [summarize(turn) for turn in read(dialogue).turns] == EXPECTED[:1]


def test_messages_between_calls_are_not_the_response():
    aloud: Json = {"role": "assistant", "content": "Let me see.", "tool_calls": []}
    (turn,) = read([DIALOGUE[1], aloud, CALL, RESULT, DIALOGUE[4]]).turns
    assert [message.text for message in turn.messages] == ["Let me see."]
    assert turn.response == "It was shipped."


def test_unanswered_message_has_no_response():
    assert read([*DIALOGUE, {"role": "user", "content": "Bye"}]).turns[-1].response is None


def test_failed_call_is_an_error():
    failed: Json = {"role": "tool", "id": "c1", "content": "no such order", "error": True}
    (turn,) = read([DIALOGUE[1], CALL, failed]).turns
    assert [result.error for result in turn.tool_results] == ["no such order"]


def test_usage_is_counted_where_it_is_recorded():
    usage: Json = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    answer: Json = {"role": "assistant", "content": "Hi", "usage": usage}
    trace = read([DIALOGUE[1], answer])
    assert trace.usage == Usage(input_tokens=10, output_tokens=4, cached_tokens=8)


def request(number: int, messages: list[Json], reply: Json, **fields: Json) -> dict[str, Json]:
    """What a proxy logs of a request to a model."""
    usage: Json = {"prompt_tokens": 10 * number, "completion_tokens": number}
    response: Json = {"model": "atlas-2", "choices": [{"message": reply}], "usage": usage}
    sent: Json = {"model": "atlas", "messages": messages}
    return {"id": f"r{number}", "request": sent, "response": response, **fields}


REQUESTS = (
    request(1, DIALOGUE[:2], CALL),
    request(2, DIALOGUE[:4], DIALOGUE[4]),
    request(3, DIALOGUE[:6], DIALOGUE[6]),
)


def test_logged_requests_are_read_with_what_they_count():
    first, second, third = read_items(REQUESTS, source="f")
    assert isinstance(first, Trace)
    assert isinstance(second, Trace)
    assert isinstance(third, Trace)
    assert [summarize(turn) for turn in third.turns] == EXPECTED
    assert (first.id, first.turns[0].response) == ("r1", None)
    assert first.usage == Usage(input_tokens=10, output_tokens=1)
    # The other model calls of the conversation are in other records.
    assert (second.usage, third.usage) == (Usage(), Usage())
    assert third.gaps == {"usage": "the tokens of 2 of 3 model calls were not recorded"}


def test_tokens_of_requests_of_one_conversation_add_up():
    rows: list[Json] = [{**row, "session_id": "s1"} for row in REQUESTS]
    (trace,) = merge_sessions(
        trace for trace in read_items(rows, source="f") if isinstance(trace, Trace)
    )
    assert [summarize(turn) for turn in trace.turns] == EXPECTED
    assert (trace.usage, trace.gaps) == (Usage(input_tokens=60, output_tokens=6), {})
    partly = [trace for trace in read_items(rows[1:], source="f") if isinstance(trace, Trace)]
    (trace,) = merge_sessions(partly)
    assert trace.gaps == {"usage": "the tokens of 1 of 3 model calls were not recorded"}


def test_tokens_beside_an_answer_are_those_of_its_call():
    counted: dict[str, Json] = {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    first = read({"messages": DIALOGUE[:2], "response": "It was shipped.", **counted})
    assert first.usage == Usage(input_tokens=9, output_tokens=3)
    last = read({"messages": DIALOGUE[:6], "response": "You are welcome.", **counted})
    assert (last.usage, len(last.turns)) == (Usage(), 2)
    assert last.gaps == {"usage": "the tokens of 2 of 3 model calls were not recorded"}


def test_requests_of_one_trace_are_joined_and_have_its_duration():
    rows: list[Json] = [
        {
            **row,
            "trace_id": "t1",
            "startTime": 1_790_000_000 + place,
            "endTime": 1_790_000_000.5 + place,
        }
        for place, row in enumerate(REQUESTS)
    ]
    (trace,) = merge_sessions(
        trace for trace in read_items(rows, source="f") if isinstance(trace, Trace)
    )
    assert (trace.id, trace.duration_ms) == ("t1", 2500)
    assert [summarize(turn) for turn in trace.turns] == EXPECTED


def test_answers_that_count_nothing_are_calls_without_tokens():
    early: Json = {"role": "assistant", "content": "Hello", "usage": None}
    sent: list[Json] = [DIALOGUE[1], early, DIALOGUE[5]]
    reply: Json = {"role": "assistant", "content": "You are welcome."}
    trace = read(request(1, sent, reply))
    assert trace.gaps == {"usage": "the tokens of 1 of 2 model calls were not recorded"}


@pytest.mark.parametrize("error", ["rate limit", {"message": "rate limit", "type": "rate"}])
def test_refused_request_has_its_error(error: Json):
    (turn,) = read({"request": {"messages": DIALOGUE[:2]}, "response": {"error": error}}).turns
    assert (turn.user, turn.response, turn.error) == ("Where is order 7?", None, "rate limit")


def test_messages_of_the_record_itself_come_first():
    sent: Json = {"messages": [{"role": "user", "content": "Summarize the talk."}]}
    assert read({"messages": DIALOGUE, "request": sent}).turns == read(DIALOGUE).turns


def test_logged_request_may_have_headers_and_a_text_as_body():
    row = REQUESTS[1]
    sent, received = (
        dict[str, Json](headers={}, body=json.dumps(row[key])) for key in ("request", "response")
    )
    assert read({"request": sent, "response": received}).turns == read(row).turns


@pytest.mark.parametrize(
    ("sent", "received", "expected"),
    [
        (
            {"input": "Open?"},
            {
                "model": "atlas-2",
                "output": [{"type": "message", "role": "assistant", "content": "Yes."}],
                "usage": {"input_tokens": 4, "output_tokens": 2},
            },
            Usage(input_tokens=4, output_tokens=2),
        ),
        (
            {"system": "Be kind.", "messages": [{"role": "user", "content": "Open?"}]},
            {
                "model": "atlas-2",
                "role": "assistant",
                "content": [{"type": "text", "text": "Yes."}],
                "usage": {"input_tokens": 4, "output_tokens": 2},
            },
            Usage(input_tokens=4, output_tokens=2),
        ),
        (
            {"contents": [{"role": "user", "parts": [{"text": "Open?"}]}]},
            {
                "modelVersion": "atlas-2",
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}}],
                "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2},
            },
            Usage(input_tokens=4, output_tokens=2),
        ),
    ],
    ids=["Responses", "Anthropic", "Gemini"],
)
def test_logged_requests_of_other_apis_are_read(sent: Json, received: Json, expected: Usage):
    trace = read({"request": sent, "response": received})
    assert [summarize(turn) for turn in trace.turns] == [["Open?", [], [], "Yes."]]
    assert (trace.models, trace.usage) == (("atlas-2",), expected)


def test_successive_user_messages_are_several_turns():
    lines: list[Json] = [{"type": "user", "text": "first"}, {"type": "user", "text": "second"}]
    assert [turn.user for turn in read(*lines).turns] == ["first", "second"]


def test_time_of_a_question_belongs_to_its_own_turn():
    times = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:01:00Z")
    messages: list[Json] = [
        {"role": role, "content": "Hi", "timestamp": time}
        for role, time in zip(("user", "assistant", "user"), times, strict=True)
    ]
    first, second = read(messages).turns
    assert (first.end or 0) - (first.start or 0) == 10**9
    assert (second.start or 0) - (first.start or 0) == 60 * 10**9


def test_role_without_content_is_not_a_message():
    with pytest.raises(UnknownFormatError, match="'role', 'level'"):
        read({"role": "user", "level": 3})


def test_events_of_a_log_are_not_chats():
    event: Json = {"type": "llm_call_started", "messages": [{"role": "user", "content": "Task"}]}
    with pytest.raises(UnknownFormatError, match="a CrewAI event log is not a supported"):
        read(event)


def test_events_of_another_log_are_not_called_crewais():
    with pytest.raises(UnknownFormatError, match="a log of events such as 'run_started'"):
        read({"type": "run_started", "run_id": "r1", "input": {"query": "Where is order 7?"}})


def test_messages_of_one_line_each_are_not_pieces_of_a_stream():
    times = [f"2026-03-03T09:00:0{second}Z" for second in range(3)]
    said = [("user", "Look around."), ("assistant", "I look."), ("assistant", "One file.")]
    lines: list[Json] = [
        {"type": "message", "timestamp": time, "role": role, "content": content}
        for time, (role, content) in zip(times, said, strict=True)
    ]
    (turn,) = read(*lines).turns
    assert (turn.response, [message.text for message in turn.messages]) == (
        "One file.",
        ["I look."],
    )


def test_one_time_is_not_a_duration():
    asked: Json = {"role": "user", "content": "Hi", "timestamp": "2026-03-03T09:00:00Z"}
    trace = read([asked, {"role": "assistant", "content": "Yes?"}])
    assert (trace.turns[0].start is not None, trace.duration_ms) == (True, None)


def test_results_without_a_call_leave_the_calls_unknown():
    trace = read(
        [
            {"role": "user", "content": "Where is order 7?"},
            {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
            {"role": "assistant", "content": "On its way."},
        ]
    )
    assert (trace.turns[0].response, trace.turns[0].tool_calls) == ("On its way.", None)


def test_calls_are_unknown_if_nothing_of_the_agent_is_recorded():
    (turn,) = read([{"role": "user", "content": "Where is order 7?"}]).turns
    assert (turn.response, turn.tool_calls) == (None, None)


def test_block_of_an_unknown_kind_of_call_leaves_the_calls_unknown():
    blocks: Json = [{"type": "text", "text": "Done."}, {"type": "remoteToolRequest", "call": 7}]
    trace = read([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": blocks}])
    assert (trace.turns[0].response, trace.turns[0].tool_calls) == ("Done.", None)


ASKED: list[Json] = [{"role": "user", "content": "Where is order 7?"}]
REPLY: Json = {"role": "assistant", "content": "It was shipped."}


@pytest.mark.parametrize(
    "answer",
    [
        {"response": "It was shipped."},
        {"output": REPLY},
        {"choices": [{"index": 0, "message": REPLY}]},
        {"completion": {"model": "atlas-2", "choices": [{"message": REPLY}]}},
    ],
    ids=["text", "message", "choices", "completion"],
)
def test_answer_beside_the_messages_of_a_request_is_the_response(answer: dict[str, Json]):
    record: dict[str, Json] = {"messages": ASKED}
    (turn,) = read(record | answer).turns
    assert (turn.user, turn.response) == ("Where is order 7?", "It was shipped.")
    # A text alone does not say that no tools were called; a message does.
    assert turn.tool_calls == (None if "response" in answer else ())


def test_calls_of_the_response_beside_the_messages_are_read():
    (turn,) = read({"messages": ASKED, "response": {"choices": [{"message": CALL}]}}).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]


@pytest.mark.parametrize("key", ["response", "output", "question"])
def test_fields_beside_answered_messages_add_no_turn(key: str):
    record: Json = {"messages": DIALOGUE, key: "resolved"}
    assert [summarize(turn) for turn in read(record).turns] == EXPECTED


def test_question_of_a_template_is_not_asked_again():
    prompt: Json = {"role": "user", "content": "Answer briefly: Where is order 7?"}
    record: Json = {
        "messages": [prompt, REPLY],
        "question": "Where is order 7?",
        "answer": "shipped",
    }
    (turn,) = read(record).turns
    assert turn.response == "It was shipped."


def test_question_and_answer_after_the_history_are_a_turn():
    record: Json = {"chat_history": DIALOGUE, "question": "When?", "answer": "On Friday."}
    turns = read(record).turns
    assert [turn.user for turn in turns] == ["Where is order 7?", "Thanks", "When?"]
    assert turns[-1].response == "On Friday."


@pytest.mark.parametrize("key", ["type", "kind"])
def test_steps_with_a_role_are_calls_results_and_thoughts(key: str):
    rows: list[Json] = [
        {"id": "1", key: "user_message", "role": "user", "content": "Where is order 7?"},
        {"id": "2", key: "thinking", "role": "assistant", "content": "I need to look."},
        {
            "id": "3",
            key: "tool_use",
            "role": "assistant",
            "name": "find",
            "toolUseId": "c1",
            "input": {"id": 7},
            "content": "",
        },
        {
            "id": "4",
            key: "tool_result",
            "role": "tool",
            "toolUseId": "c1",
            "isError": True,
            "content": "not found",
        },
        {"id": "5", key: "assistant_text", "role": "assistant", "content": "I cannot find it."},
    ]
    trace = read({"events": rows})
    (turn,) = trace.turns
    assert summarize(turn) == [
        "Where is order 7?",
        [["find", {"id": 7}, "c1"]],
        [["find", "not found"]],
        "I cannot find it.",
    ]
    assert (turn.agents, turn.messages, turn.tool_results[0].error) == ((), (), "not found")


def test_roles_of_training_data_are_calls_and_results():
    rows: list[Json] = [
        {"role": "user", "content": "Where is order 7?"},
        {"role": "tool_call", "content": '{"name": "find", "arguments": {"id": 7}}'},
        {"role": "tool_response", "content": "shipped"},
        {"role": "bot", "content": "It was shipped."},
    ]
    (turn,) = read(rows).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("find", {"id": 7})]
    assert turn.tool_results[0].result == "shipped"
    assert turn.response == "It was shipped."


def test_call_without_a_name_leaves_the_calls_unknown():
    rows: list[Json] = [
        {"role": "user", "content": "Where is order 7?"},
        {"role": "assistant", "type": "tool_call", "content": "looking"},
        {"role": "assistant", "content": "It was shipped."},
    ]
    assert read(rows).turns[0].tool_calls is None


def ui_call(kind: str, **fields: Json) -> Json:
    return {"type": kind, "toolCallId": "c1", "input": {"id": 7}, **fields}


@pytest.mark.parametrize(
    ("part", "result"),
    [
        (ui_call("tool-find", state="output-available", output="shipped"), ("shipped", None)),
        (
            ui_call("dynamic-tool", toolName="find", state="output-error", errorText="no order"),
            (None, "no order"),
        ),
        (
            {
                "type": "tool-invocation",
                "toolInvocation": {
                    "state": "result",
                    "toolCallId": "c1",
                    "toolName": "find",
                    "args": {"id": 7},
                    "result": "shipped",
                },
            },
            ("shipped", None),
        ),
    ],
    ids=["named", "dynamic", "invocation"],
)
def test_parts_of_ui_messages_are_calls_with_their_results(
    part: Json, result: tuple[Json, str | None]
):
    text: Json = {"type": "text", "text": "It was shipped."}
    asked: Json = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Where is it?"}]}
    answer: Json = {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, part, text]}
    (turn,) = read([asked, answer]).turns
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("find", {"id": 7}, "c1")
    ]
    assert [(item.result, item.error) for item in turn.tool_results] == [result]
    assert turn.response == "It was shipped."


@pytest.mark.parametrize("state", ["input-streaming", "input-available"])
def test_call_of_a_ui_message_without_an_output_has_no_result(state: str):
    answer: Json = {"role": "assistant", "parts": [ui_call("tool-find", state=state)]}
    (turn,) = read([ASKED[0], answer]).turns
    assert [call.name for call in turn.tool_calls or ()] == ["find"]
    assert turn.tool_results == ()


def test_text_may_be_called_message_and_speakers_customer_and_agent():
    rows: list[Json] = [
        {"session_id": "s", "role": "customer", "message": "Where is order 7?"},
        {"session_id": "s", "role": "agent", "message": "It was shipped."},
    ]
    assert [(turn.user, turn.response) for turn in read(*rows).turns] == [
        ("Where is order 7?", "It was shipped.")
    ]


@pytest.mark.parametrize("key", ["transcript", "dialogue", "turns"])
def test_other_names_of_messages_are_read(key: str):
    assert read({"conversation_id": "c", key: DIALOGUE}).turns == read(DIALOGUE).turns


def test_turns_without_the_id_of_a_run_may_be_golden_data():
    with pytest.raises(UnknownFormatError):
        read({"scenario": "a question", "turns": DIALOGUE})
