"""What hosted agents and other libraries record: Assistants, Gemini interactions, Bedrock agents,
VS Code, Cursor, LangChain4j and LlamaIndex.TS. Each records the same conversation."""

from __future__ import annotations

import json

import pytest

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

ASKED = "Where is my order MB-20418?"
ANSWER = "It arrives on Thursday."
ARGS: dict[str, Json] = {"order_id": "MB-20418"}
SHIPPED: dict[str, Json] = {"status": "shipped"}


def read(*values: Json) -> Trace:
    (trace,) = read_items(values, source="f")
    assert isinstance(trace, Trace)
    return trace


def thread(kind: str, time: int, **fields: Json) -> dict[str, Json]:
    return {"object": kind, "thread_id": "th-1", "created_at": 1_772_530_000 + time, **fields}


def text_block(text: str) -> Json:
    return [{"type": "text", "text": {"value": text, "annotations": []}}]


def assistants() -> list[Json]:
    function: Json = {
        "name": "lookup_order",
        "arguments": json.dumps(ARGS),
        "output": json.dumps(SHIPPED),
    }
    call: Json = {"id": "c1", "type": "function", "function": function}
    details: Json = {"type": "tool_calls", "tool_calls": [call]}
    usage: Json = {"prompt_tokens": 107, "completion_tokens": 13, "total_tokens": 120}
    more: Json = {"prompt_tokens": 207, "completion_tokens": 23, "total_tokens": 230}
    messages: Json = [  # the API lists the newest first
        thread("thread.message", 9, id="m2", role="assistant", content=text_block(ANSWER)),
        thread("thread.message", 0, id="m1", role="user", content=text_block(ASKED)),
    ]
    created: Json = {"type": "message_creation", "message_creation": {"message_id": "m2"}}
    return [
        {"object": "list", "data": messages},
        thread("thread.run", 1, id="r1", model="atlas-2", usage=None),
        thread("thread.run.step", 2, run_id="r1", step_details=details, usage=usage),
        thread("thread.run.step", 8, run_id="r1", step_details=created, usage=more),
    ]


def interactions() -> list[Json]:
    call: Json = {"type": "function_call", "id": "c1", "name": "lookup_order", "arguments": ARGS}
    result: Json = {"type": "function_result", "call_id": "c1", "result": SHIPPED}
    output: Json = {"type": "model_output", "content": [{"type": "text", "text": ANSWER}]}
    first: dict[str, Json] = {"total_input_tokens": 107, "total_output_tokens": 12}
    second: dict[str, Json] = {"total_input_tokens": 207, "total_output_tokens": 21}
    base: dict[str, Json] = {"model": "atlas-2", "object": "interaction"}
    return [
        {
            **base,
            "id": "i2",
            "created": "2026-03-03T09:00:05Z",
            "status": "completed",
            "previous_interaction_id": "i1",
            "input": [result],
            "steps": [output],
            "usage": {**second, "total_thought_tokens": 2},
        },
        {
            **base,
            "id": "i1",
            "created": "2026-03-03T09:00:00Z",
            "status": "requires_action",
            "input": ASKED,
            "steps": [{"type": "thought", "signature": "x"}, call],
            "usage": {**first, "total_thought_tokens": 1},
        },
    ]


def part(**step: Json) -> Json:
    return {"sessionId": "s-1", "agentId": "A", "trace": {"orchestrationTrace": {**step}}}


def bedrock() -> list[Json]:
    messages: Json = [{"role": "user", "content": f"[{{text={ASKED}, type=text}}]"}]
    prompt = json.dumps({"system": "Help.", "messages": messages})
    request: Json = {"text": prompt, "foundationModel": "atlas-2", "type": "ORCHESTRATION"}
    parameters: Json = [{"name": "order_id", "type": "string", "value": "MB-20418"}]
    action: Json = {"function": "lookup_order", "parameters": parameters}
    counts: list[Json] = [
        {"metadata": {"usage": {"inputTokens": sent, "outputTokens": output}}}
        for sent, output in ((107, 13), (207, 23))
    ]
    return [
        part(modelInvocationInput=request),
        part(modelInvocationOutput=counts[0]),
        part(invocationInput={"actionGroupInvocationInput": action}),
        part(observation={"actionGroupInvocationOutput": {"text": json.dumps(SHIPPED)}}),
        part(modelInvocationInput=request),
        part(modelInvocationOutput=counts[1]),
        part(observation={"finalResponse": {"text": ANSWER}, "type": "FINISH"}),
    ]


def vscode() -> list[Json]:
    call: Json = {"id": "c1", "name": "lookup_order", "arguments": json.dumps(ARGS)}
    rounds: Json = [{"response": "", "toolCalls": [call]}, {"response": ANSWER, "toolCalls": []}]
    results: Json = {"c1": {"content": [{"value": json.dumps(SHIPPED)}]}}
    request: Json = {"message": {"text": ASKED}, "timestamp": 1_772_530_000_000, "response": []}
    start: Json = {"version": 3, "creationDate": 1, "sessionId": "s-1", "requests": []}
    metadata: Json = {"toolCallRounds": rounds, "toolCallResults": results}
    return [
        {"kind": 0, "v": start},
        {"kind": 2, "k": ["requests"], "v": [request]},
        {"kind": 1, "k": ["requests", 0, "result"], "v": {"metadata": metadata}},
    ]


def langchain4j() -> list[Json]:
    call: Json = {"id": "c1", "name": "lookup_order", "arguments": json.dumps(ARGS)}
    return [
        [
            {"text": "Help.", "type": "SYSTEM"},
            {"contents": [{"text": ASKED, "type": "TEXT"}], "type": "USER"},
            {"toolExecutionRequests": [call], "type": "AI"},
            {
                "id": "c1",
                "toolName": "lookup_order",
                "text": json.dumps(SHIPPED),
                "type": "TOOL_EXECUTION_RESULT",
            },
            {"text": ANSWER, "type": "AI"},
        ]
    ]


def llama_index_ts() -> list[Json]:
    call: Json = {"toolCall": [{"id": "c1", "name": "lookup_order", "input": ARGS}]}
    result: Json = {"toolResult": {"id": "c1", "result": json.dumps(SHIPPED), "isError": False}}
    return [
        [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "", "options": call},
            {"role": "user", "content": json.dumps(SHIPPED), "options": result},
            {"role": "assistant", "content": ANSWER},
        ]
    ]


def cursor_line(kind: str, **fields: Json) -> Json:
    return {"type": kind, "session_id": "s-1", **fields}


def cursor() -> list[Json]:
    asked: Json = {"role": "user", "content": [{"type": "text", "text": ASKED}]}
    answer: Json = {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}
    function: dict[str, Json] = {"name": "lookup_order", "arguments": json.dumps(ARGS)}
    done: Json = {"function": {**function, "result": {"success": SHIPPED}}}
    return [
        cursor_line("system", subtype="init", uuid="0"),
        cursor_line("user", message=asked),
        cursor_line("tool_call", subtype="started", call_id="c1", tool_call={"function": function}),
        cursor_line("tool_call", subtype="completed", call_id="c1", tool_call=done),
        cursor_line("assistant", message=answer),
        cursor_line("result", subtype="success", result=ANSWER),
    ]


RECORDINGS = {
    "assistants": assistants(),
    "gemini-interactions": interactions(),
    "bedrock-agent": bedrock(),
    "vscode-chat": vscode(),
    "langchain4j": langchain4j(),
    "llama-index-ts": llama_index_ts(),
    "cursor": cursor(),
}
COUNTED = ("assistants", "gemini-interactions", "bedrock-agent")


@pytest.mark.parametrize("name", RECORDINGS)
def test_each_recording_gives_the_same_turn(name: str):
    (turn,) = read(*RECORDINGS[name]).turns
    assert (turn.user, turn.response) == (ASKED, ANSWER)
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("lookup_order", ARGS)]
    assert [(item.name, item.result, item.error) for item in turn.tool_results] == [
        ("lookup_order", SHIPPED, None)
    ]


@pytest.mark.parametrize("name", RECORDINGS)
def test_tokens_are_counted_once_or_not_recorded(name: str):
    trace = read(*RECORDINGS[name])
    usage = (trace.usage.input_tokens, trace.usage.output_tokens)
    assert usage == ((314, 36) if name in COUNTED else (None, None))
    assert trace.models == (("atlas-2",) if name in COUNTED else ())


def test_thread_without_steps_does_not_say_that_no_tool_was_called():
    (turn,) = read(assistants()[0]).turns
    assert (turn.response, turn.tool_calls) == (ANSWER, None)


def test_answer_of_a_collaborator_is_not_the_response():
    inner: dict[str, Json] = {
        "sessionId": "s-1",
        "collaboratorName": "stock",
        "trace": {"orchestrationTrace": {"observation": {"finalResponse": {"text": "Two left."}}}},
    }
    parts = bedrock()
    (turn,) = read(*parts[:4], inner, *parts[4:]).turns
    assert (turn.response, turn.messages) == (ANSWER, ())


def test_interactions_without_a_predecessor_are_conversations_of_their_own():
    first, second = interactions()
    assert isinstance(second, dict)
    assert isinstance(first, dict)
    apart: Json = {**first, "previous_interaction_id": None}
    traces = list(read_items([second, apart], source="f"))
    assert [trace.id for trace in traces if isinstance(trace, Trace)] == ["i1", "i2"]
