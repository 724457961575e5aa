"""The same messages give the same turns from chat files and from spans."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from carob.schema import Json, Trace, Turn
from carob.traces.containers.detect import read_items
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import assemble

QUESTION, ANSWER = "Where is order 7?", "It was shipped."
FIND: Json = ["find", {"id": 7}, "c1"]
SHIPPED: Json = ["find", "shipped", "c1", None]
TURN: list[Json] = [QUESTION, [FIND], [SHIPPED], ANSWER]


def constructor(name: str, **kwargs: Json) -> Json:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "messages", name], "kwargs": kwargs}


SHAPES: dict[str, list[Json]] = {
    "openai chat": [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "find", "arguments": '{"id": 7}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
        {"role": "assistant", "content": ANSWER},
    ],
    "openai responses": [
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id": 7}'},
        {"type": "function_call_output", "call_id": "c1", "output": "shipped"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER}],
        },
    ],
    "anthropic": [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 7}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "shipped"}],
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
    "anthropic mcp": [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": [
                {"type": "mcp_tool_use", "id": "c1", "name": "find", "input": {"id": 7}},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "c1",
                    "is_error": False,
                    "content": [{"type": "text", "text": "shipped"}],
                },
                {"type": "text", "text": "It was "},
                {"type": "text", "text": "shipped."},
            ],
        },
    ],
    "otel parts": [
        {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 7}}],
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "c1", "response": "shipped"}],
        },
        {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "c1", "name": "find", "args": {"id": 7}}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": "shipped"}}],
        },
        {"role": "model", "parts": [{"text": ANSWER}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": QUESTION}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": 7}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "shipped"}]}}],
        },
        {"role": "assistant", "content": [{"text": ANSWER}]},
    ],
    "langchain data": [
        {"type": "human", "data": {"content": QUESTION}},
        {
            "type": "ai",
            "data": {
                "content": "",
                "tool_calls": [{"id": "c1", "name": "find", "args": {"id": 7}}],
            },
        },
        {"type": "tool", "data": {"content": "shipped", "tool_call_id": "c1"}},
        {"type": "ai", "data": {"content": ANSWER}},
    ],
    "langchain constructors": [
        constructor("HumanMessage", content=QUESTION),
        constructor(
            "AIMessage", content="", tool_calls=[{"id": "c1", "name": "find", "args": {"id": 7}}]
        ),
        constructor("ToolMessage", content="shipped", tool_call_id="c1", status="success"),
        constructor("AIMessage", content=ANSWER),
    ],
    "langchain class names": [
        {"type": "HumanMessage", "content": QUESTION},
        {
            "type": "AIMessage",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "find", "args": {"id": 7}}],
        },
        {"type": "ToolMessage", "content": "shipped", "tool_call_id": "c1"},
        {"type": "AIMessage", "content": ANSWER},
    ],
    "llama-index": [
        {"role": "MessageRole.USER", "blocks": [{"block_type": "text", "text": QUESTION}]},
        {
            "role": "MessageRole.ASSISTANT",
            "blocks": [],
            "additional_kwargs": {
                "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": '{"id": 7}'}}]
            },
        },
        {"role": "MessageRole.TOOL", "content": "shipped", "tool_call_id": "c1"},
        {"role": "MessageRole.ASSISTANT", "blocks": [{"block_type": "text", "text": ANSWER}]},
    ],
    "pydantic-ai": [
        {
            "kind": "request",
            "parts": [
                {"part_kind": "system-prompt", "content": "Be brief."},
                {"part_kind": "user-prompt", "content": QUESTION},
            ],
        },
        {
            "kind": "response",
            "parts": [
                {
                    "part_kind": "tool-call",
                    "tool_name": "find",
                    "args": {"id": 7},
                    "tool_call_id": "c1",
                }
            ],
        },
        {
            "kind": "request",
            "parts": [
                {
                    "part_kind": "tool-return",
                    "tool_name": "find",
                    "content": "shipped",
                    "tool_call_id": "c1",
                }
            ],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWER}]},
    ],
    "agent framework": [
        {"role": "user", "contents": [{"type": "text", "text": QUESTION}]},
        {
            "role": "assistant",
            "contents": [
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"id":7}'}
            ],
        },
        {
            "role": "tool",
            "contents": [{"type": "function_result", "call_id": "c1", "result": "shipped"}],
        },
        {"role": "assistant", "contents": [{"type": "text", "text": ANSWER}]},
    ],
    "agent framework .net": [
        {"role": {"value": "user"}, "contents": [{"$type": "text", "text": QUESTION}]},
        {
            "role": {"value": "assistant"},
            "contents": [
                {"$type": "functionCall", "callId": "c1", "name": "find", "arguments": {"id": 7}}
            ],
        },
        {
            "role": {"value": "tool"},
            "contents": [{"$type": "functionResult", "callId": "c1", "result": "shipped"}],
        },
        {"role": {"value": "assistant"}, "contents": [{"$type": "text", "text": ANSWER}]},
    ],
    "vercel": [
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "find", "input": {"id": 7}}
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "find",
                    "output": {"type": "text", "value": "shipped"},
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
}
FUNCTION_CALL: list[Json] = [
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "find", "arguments": '{"id": 7}'},
    },
    {"role": "function", "name": "find", "content": "shipped"},
    {"role": "assistant", "content": ANSWER},
]
"""OpenAI's API before tools: calls have no ids."""
WEB_SEARCH: list[Json] = [
    {"role": "user", "content": QUESTION},
    {
        "type": "web_search_call",
        "id": "ws1",
        "status": "completed",
        "action": {"type": "search", "query": "order 7"},
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
]
FAILED: list[Json] = [
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 7}}],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "is_error": True, "content": '{"code": 5}'}
        ],
    },
    {"role": "assistant", "content": ANSWER},
]


def chat_file(messages: list[Json]) -> Turn:
    """A file that is a list of messages."""
    (trace,) = read_items([messages], source="f")
    assert isinstance(trace, Trace)
    return only_turn([trace])


def chat_record(messages: list[Json]) -> Turn:
    """A file with a record around the messages."""
    (trace,) = read_items([{"id": "x", "messages": messages}], source="f")
    assert isinstance(trace, Trace)
    return only_turn([trace])


def genai_attributes(messages: list[Json]) -> Turn:
    """An agent's span with its messages in OTel attributes."""
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": json.dumps(messages[:1]),
        "gen_ai.output.messages": json.dumps(messages[1:]),
    }
    return from_otlp(attributes)


def openinference_values(messages: list[Json]) -> Turn:
    """An agent's span with its messages in OpenInference's values."""
    attributes: dict[str, Json] = {
        "openinference.span.kind": "AGENT",
        "input.value": json.dumps({"messages": messages[:1]}),
        "output.value": json.dumps({"messages": messages}),
    }
    return from_otlp(attributes)


def details_event(messages: list[Json]) -> Turn:
    """An agent's span with its messages in one event."""
    event: dict[str, Json] = {
        "name": "gen_ai.client.inference.operation.details",
        "attributes": pairs(
            {
                "gen_ai.input.messages": json.dumps(messages[:1]),
                "gen_ai.output.messages": json.dumps(messages[1:]),
            }
        ),
    }
    return from_otlp({"gen_ai.operation.name": "invoke_agent"}, event)


def from_otlp(attributes: dict[str, Json], *events: Json) -> Turn:
    span: Json = {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "name": "invoke_agent shop",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": pairs(attributes),
        "events": [*events],
    }
    file: Json = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    records = read_items([file], source="f")
    spans = assemble(
        (record for record in records if not isinstance(record, Trace)),
        source="f",
        report=lambda problem: None,
    )
    return only_turn([trace for group in spans.values() for trace in to_traces(group)])


def pairs(attributes: dict[str, Json]) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]


def only_turn(traces: list[Trace]) -> Turn:
    ((turn,),) = (trace.turns for trace in traces)
    return turn


DOORS: list[Callable[[list[Json]], Turn]] = [
    chat_file,
    chat_record,
    genai_attributes,
    openinference_values,
    details_event,
]


def describe_turn(turn: Turn) -> list[Json]:
    calls: list[Json] = [[call.name, call.args, call.id] for call in turn.tool_calls or ()]
    results: list[Json] = [
        [result.name, result.result, result.id, result.error] for result in turn.tool_results
    ]
    return [turn.user, calls, results, turn.response]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("door", DOORS)
def test_every_shape_gives_the_same_turn_through_every_door(
    door: Callable[[list[Json]], Turn], shape: str
):
    assert describe_turn(door(SHAPES[shape])) == TURN


@pytest.mark.parametrize("door", DOORS)
def test_calls_without_ids_give_the_same_turn(door: Callable[[list[Json]], Turn]):
    assert describe_turn(door(FUNCTION_CALL)) == [
        QUESTION,
        [["find", {"id": 7}, None]],
        [["find", "shipped", None, None]],
        ANSWER,
    ]


@pytest.mark.parametrize("door", DOORS)
def test_built_in_tools_are_calls(door: Callable[[list[Json]], Turn]):
    assert describe_turn(door(WEB_SEARCH)) == [
        QUESTION,
        [["web_search", {"query": "order 7"}, "ws1"]],
        [],
        ANSWER,
    ]


@pytest.mark.parametrize("door", DOORS)
def test_failed_call_has_the_same_error(door: Callable[[list[Json]], Turn]):
    result: Json = ["find", {"code": 5}, "c1", "the tool failed"]
    assert describe_turn(door(FAILED)) == [QUESTION, [FIND], [result], ANSWER]
