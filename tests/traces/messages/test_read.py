from __future__ import annotations

import json

import pytest

from carob.schema import Json
from carob.traces.messages.message import (
    CallBlock,
    Message,
    ResultBlock,
    asked_text,
    last_answer,
    last_user,
)
from carob.traces.messages.read import read_last_message, read_messages
from carob.traces.messages.withheld import hide_markers

CALL = CallBlock("search", {"q": "tides"}, "c1")

ASKING: dict[str, Json] = {
    "otel": [{"role": "user", "parts": [{"type": "text", "content": "When is high tide?"}]}],
    "chat": [{"role": "user", "content": "When is high tide?"}],
    "blocks": [{"text": "When is high tide?"}],
    "bedrock": [{"role": "user", "content": [{"text": "When is high tide?"}]}],
    "bedrock in a string": [{"role": "user", "content": '[{"text": "When is high tide?"}]'}],
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "When is high tide?"}]}]},
    "langchain data": {"messages": [{"type": "human", "data": {"content": "When is high tide?"}}]},
    "langchain constructor": {
        "messages": [
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": "When is high tide?"},
                }
            ]
        ]
    },
    "vercel": {"system": "Be brief.", "prompt": "When is high tide?"},
    "task": {"task": "When is high tide?", "stream": False},
    "bare": "When is high tide?",
    "adk runner": {"new_message": {"role": "user", "parts": [{"text": "When is high tide?"}]}},
    "enum": [{"role": "MessageRole.USER", "content": "When is high tide?"}],
}
CALLING: dict[str, Json] = {
    "otel": [
        {
            "role": "assistant",
            "parts": [
                {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "tides"}}
            ],
        }
    ],
    "chat": [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "function": {"name": "search", "arguments": '{"q": "tides"}'}}
            ],
        }
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "tides"}}
            ],
        }
    ],
    "bedrock": [{"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "tides"}}}],
    "gemini": {
        "role": "model",
        "parts": [{"function_call": {"id": "c1", "name": "search", "args": {"q": "tides"}}}],
    },
    "responses": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q": "tides"}'},
    ],
    "generations": {
        "generations": [
            [
                {
                    "text": "",
                    "message": {
                        "tool_calls": [{"name": "search", "args": {"q": "tides"}, "id": "c1"}]
                    },
                }
            ]
        ]
    },
    "choices": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "c1", "function": {"name": "search", "arguments": '{"q": "tides"}'}}
                    ],
                }
            }
        ]
    },
    "printed": [
        {
            "role": "assistant",
            "parts": [
                {
                    "type": "text",
                    "content": 'ResponseFunctionToolCall(arguments=\'{"q": "tides"}\', '
                    "call_id='c1', name='search', type='function_call')",
                }
            ],
        }
    ],
}
ANSWERING: dict[str, Json] = {
    "otel": [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "06:10"}]}
    ],
    "otel of old": [
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "result": "06:10"}]}
    ],
    "chat": [{"role": "tool", "tool_call_id": "c1", "content": "06:10"}],
    "bedrock": [
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "06:10"}]}}],
        }
    ],
    "bedrock in a string": [
        {
            "role": "tool",
            "content": '[{"toolResult": {"toolUseId": "c1", "content": [{"text": "06:10"}]}}]',
        }
    ],
    "responses": [{"type": "function_call_output", "call_id": "c1", "output": "06:10"}],
    "langchain": [{"type": "tool", "content": "06:10", "tool_call_id": "c1", "status": "success"}],
}


@pytest.mark.parametrize("shape", ASKING)
@pytest.mark.parametrize("encoded", [False, True])
def test_user_text_is_found_in_every_shape(shape: str, encoded: bool):
    value = json.dumps(ASKING[shape]) if encoded else ASKING[shape]
    assert last_user(read_messages(value, "user")) == "When is high tide?"
    assert last_user(read_last_message(value, "user", "user")) == "When is high tide?"


@pytest.mark.parametrize("shape", CALLING)
def test_tool_call_is_found_in_every_shape(shape: str):
    messages = read_messages(json.dumps(CALLING[shape]), "assistant")
    assert [call for message in messages for call in message.calls] == [CALL]


@pytest.mark.parametrize("shape", ANSWERING)
def test_tool_result_is_found_in_every_shape_and_is_not_user_text(shape: str):
    messages = read_messages(ANSWERING[shape], "user")
    assert [(r.id, r.value) for message in messages for r in message.results] == [("c1", "06:10")]
    assert last_user(messages) is None


def test_thoughts_are_not_text():
    parts: Json = [
        {"type": "reasoning", "content": "hm"},
        {"text": "aha", "thought": True},
        {"text": "06:10"},
    ]
    assert read_messages([{"role": "assistant", "parts": parts}], "assistant")[0].text == "06:10"


def test_response_is_the_last_text_not_all_texts():
    messages = [
        Message("assistant", "Let me look."),
        Message("assistant", None, [CALL]),
        Message("assistant", "06:10"),
    ]
    assert last_answer(messages) == "06:10"


def test_response_without_text_is_empty_and_a_call_is_not_a_response():
    assert last_answer([Message("assistant", "")]) == ""
    assert last_answer([Message("assistant", None, [CALL])]) is None


def test_json_list_as_a_tool_result_stays_a_list():
    listed: Json = [{"name": "a"}, {"name": "b"}]
    messages = read_messages(
        [{"role": "tool", "tool_call_id": "c1", "content": json.dumps(listed)}], "user"
    )
    assert messages[0].results == [ResultBlock("c1", None, listed, error=False)]


def test_structured_crew_output_is_its_raw_text():
    messages = read_messages(
        {"raw": "06:10", "messages": [{"role": "assistant", "content": "x"}]}, "assistant"
    )
    assert last_answer(messages) == "06:10"


PRINTED = {
    "user": "content='When?' additional_kwargs={} response_metadata={} id='8c'",
    "answer": """content="It's at six." additional_kwargs={'refusal': None} """
    """response_metadata={'finish_reason': 'stop'} id='run--1-0' usage_metadata={'n': 1}""",
    "asking": "content='' additional_kwargs={} response_metadata={'finish_reason': 'tool_calls'} "
    "id='run--2-0' tool_calls=[{'name': 'search', 'args': {'q': 'tides'}, 'id': 'c1'}] "
    "usage_metadata={'input_tokens': 9}",
    "tool": "content='six' name='search' id='9d' tool_call_id='c1' status='error'",
}


def test_printed_langchain_messages_are_read():
    assert read_messages({"messages": list(PRINTED.values())}, "assistant") == [
        Message("user", "When?"),
        Message("assistant", "It's at six."),
        Message("assistant", "", [CALL]),
        Message("tool", results=[ResultBlock("c1", "search", "six", error=True)]),
    ]


def test_text_that_starts_like_a_printed_message_is_text():
    assert read_messages("content= is a keyword", "assistant") == [
        Message("assistant", "content= is a keyword")
    ]


def test_message_printed_as_a_dict_is_read():
    printed = str(
        {
            "content": None,
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "function": {"name": "search", "arguments": '{"q": "tides"}'}}
            ],
        }
    )
    messages: Json = [{"role": "assistant", "parts": [{"type": "text", "content": printed}]}]
    assert read_messages(json.dumps(messages), "assistant") == [Message("assistant", calls=[CALL])]


def test_message_without_content_is_not_a_response():
    assert last_answer(read_messages([{"role": "assistant"}], "assistant")) is None
    assert last_answer(read_messages([{"role": "assistant", "content": ""}], "assistant")) == ""


def test_summary_of_earlier_turns_is_not_user_text():
    messages: Json = [
        {"role": "user", "parts": [{"type": "text", "content": "When?"}]},
        {"role": "user", "parts": [{"type": "compaction", "content": "They spoke of tides."}]},
    ]
    assert last_user(read_messages(json.dumps(messages), "user")) == "When?"


def test_provider_tool_is_a_call_with_its_result():
    parts: Json = [
        {
            "type": "server_tool_call",
            "id": "c1",
            "name": "search",
            "server_tool_call": {"type": "search", "q": "tides"},
        },
        {
            "type": "server_tool_call_response",
            "id": "c1",
            "server_tool_call_response": {"type": "search", "hits": 3},
        },
    ]
    (messages,) = read_messages([{"role": "assistant", "parts": parts}], "assistant")
    assert (messages.calls, messages.results) == (
        [CALL],
        [ResultBlock("c1", None, {"hits": 3}, error=False)],
    )


@pytest.mark.parametrize(("kind", "failed"), [("json", False), ("error-text", True)])
def test_vercel_result_may_be_an_error(kind: str, failed: bool):
    part: Json = {"type": "tool-result", "toolCallId": "c1", "output": {"type": kind, "value": "x"}}
    (messages,) = read_messages([{"role": "tool", "content": [part]}], "user")
    assert messages.results == [ResultBlock("c1", None, "x", failed)]


def test_message_with_only_tool_calls_is_not_a_response_even_with_empty_text():
    assert last_answer([Message("assistant", "", [CALL])]) is None
    assert last_answer([Message("assistant", "")]) == ""


def test_printed_text_block_is_its_text():
    messages: Json = {
        "type": "text",
        "content": "{'annotations': [], 'text': 'six', 'type': 'output_text'}",
    }
    assert read_messages([{"role": "assistant", "parts": [messages]}], "assistant")[0].text == "six"


def test_call_in_the_content_and_beside_it_is_one_call():
    block: Json = {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"q": "tides"}}}
    call: Json = {"name": "search", "arguments": '{"q": "tides"}'}
    beside: Json = [{"id": "c1", "type": "function", "function": call}]
    value: Json = [{"role": "assistant", "content": [block], "tool_calls": beside}]
    assert [message.calls for message in read_messages(value, "assistant")] == [[CALL]]


def test_built_in_openai_tools_are_calls_with_their_results():
    action: Json = {"type": "search", "query": "tides"}
    value: Json = {
        "object": "response",
        "output": [
            {"type": "web_search_call", "id": "w1", "status": "completed", "action": action},
            {"type": "code_interpreter_call", "id": "c1", "code": "1+1", "outputs": ["2"]},
            {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "2"}]},
        ],
    }
    messages = read_messages(value, "assistant")
    assert [call for message in messages for call in message.calls] == [
        CallBlock("web_search", {"query": "tides"}, "w1"),
        CallBlock("code_interpreter", {"code": "1+1"}, "c1"),
    ]
    assert [message.results for message in messages] == [
        [],
        [ResultBlock("c1", "code_interpreter", ["2"], error=False)],
        [],
    ]
    assert last_answer(messages) == "2"


def test_role_that_is_the_name_of_a_called_tool_marks_its_result():
    call: Json = {"id": "c1", "name": "search", "args": {"q": "tides"}}
    messages = read_messages(
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "search", "content": "06:10"},
            {"role": "narrator", "content": "The end."},
        ],
        "user",
    )
    assert messages[1].results == [ResultBlock(None, "search", "06:10", False)]
    assert (messages[2].role, messages[2].results) == ("other", [])


def test_printed_messages_of_a_framework_are_read():
    text = "[AssistantMessage(content=[MessageTextContent(type='text', text='At 06:10.')])]"
    assert last_answer(read_messages(text, "assistant")) == "At 06:10."
    call = (
        "[AssistantMessage(content=[MessageToolCallContent(type='tool-call', id='c1', "
        """tool_name='search', args='{"q": "tides"}')])]"""
    )
    assert read_messages(call, "assistant")[0].calls == [CALL]


def test_code_that_a_model_writes_is_its_answer():
    assert last_answer(read_messages("Point(x=1, y=2)", "assistant")) == "Point(x=1, y=2)"


@pytest.mark.parametrize("wrapped", [False, True])
def test_message_that_python_printed_is_read(wrapped: bool):
    item: Json = {"role": "assistant", "text": "It's open until five."}
    (message,) = read_messages(repr([item] if wrapped else item), "assistant")
    assert (message.role, message.text) == ("assistant", "It's open until five.")


def test_printed_fields_without_a_role_are_a_text():
    text = "{'city': 'Porto', 'note': \"'role': none\"}"
    assert read_messages(text, "assistant") == [Message("assistant", text)]


@pytest.mark.parametrize("text", ['["Rome", "Oslo"]', "[18, null]"])
def test_list_without_messages_is_a_text(text: str):
    assert last_user(read_messages(text, "user")) == text
    assert last_user(read_messages({"args": [text], "kwargs": {}}, "user")) == text
    assert last_user(read_last_message(text, "user", "user")) == text


def test_answer_before_the_last_question_is_not_its_answer():
    asked: list[Json] = [{"role": "user", "content": "Is it open?"}]
    answered: list[Json] = [*asked, {"role": "assistant", "content": "Yes."}]
    silent: list[Json] = [{"role": "user", "content": "Now?"}, {"role": "assistant", "content": ""}]
    for messages, answer in ((answered, "Yes."), ([*answered, *asked], None)):
        assert last_answer(read_messages(messages, "assistant")) == answer
        assert last_answer(read_last_message(messages, "assistant", "assistant")) == answer
    assert last_answer(read_last_message([*answered, *silent], "assistant", "assistant")) == ""


def test_calls_whose_arguments_are_not_json_are_calls():
    call: Json = {"name": "search", "args": '{"q": "ti', "id": "c1", "type": "invalid_tool_call"}
    message: Json = {"type": "ai", "data": {"content": "", "invalid_tool_calls": [call]}}
    (read,) = read_messages([message], "assistant")
    assert read.calls == [CallBlock("search", '{"q": "ti', "c1")]


def test_note_on_items_left_out_is_not_what_the_user_wrote():
    messages: Json = [{"role": "user", "content": "Is it open?"}, "[…3 more items]"]
    assert asked_text(hide_markers(read_messages(messages, "user"))) is None
