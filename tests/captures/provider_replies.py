"""One reply of the scripted model, in the words of each provider's API, at once or streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.captures.scenario import Call, Reply

CREATED = 1_700_000_000


class Usage(NamedTuple):
    """The tokens of one model call; cached tokens are input, reasoning tokens are output."""

    input: int
    output: int
    cached: int
    reasoning: int


class Served(NamedTuple):
    """A reply, the number of the model call that it answers, and what it cost."""

    number: int
    model: str
    reply: Reply
    usage: Usage

    @property
    def call_ids(self) -> list[str]:
        return [f"call_{self.number}_{index}" for index in range(len(self.reply.calls))]


def write_args(call: Call) -> str:
    """The arguments of a call as the model writes them, which need not be JSON."""
    return json.dumps(call.args) if call.raw is None else call.raw


def usage_of(number: int) -> Usage:
    """The tokens of the n-th call: all different, and zero where providers say zero."""
    return Usage(100 * number + 7, 10 * number + 3, 64 if number % 2 == 0 else 0, number % 3)


def chat_completion(served: Served) -> dict[str, Any]:
    """OpenAI chat completions."""
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": write_args(call)},
        }
        for call_id, call in zip(served.call_ids, served.reply.calls, strict=True)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": served.reply.text or None}
    if served.reply.reasoning:
        message["reasoning_content"] = served.reply.reasoning
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    return {
        "id": f"chatcmpl-{served.number}",
        "object": "chat.completion",
        "created": CREATED,
        "model": served.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": _chat_usage(served.usage),
    }


def _chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def stream_chat_completion(served: Served, *, with_usage: bool) -> Iterator[dict[str, Any]]:
    """OpenAI chat completions, in chunks; parallel calls are interleaved by index."""
    whole = chat_completion(served)
    base = {key: whole[key] for key in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": "" if served.reply.text else None})
    for part in _halves(served.reply.reasoning):
        yield chunk({"reasoning_content": part})
    for part in _halves(served.reply.text):
        yield chunk({"content": part})
    for index, call in enumerate(whole["choices"][0]["message"].get("tool_calls", ())):
        name = {"name": call["function"]["name"], "arguments": ""}
        yield chunk(
            {
                "tool_calls": [
                    {"index": index, "id": call["id"], "type": "function", "function": name}
                ]
            }
        )
        for part in _halves(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, whole["choices"][0]["finish_reason"])
    if with_usage:
        yield {**base, "choices": [], "usage": whole["usage"]}


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


def response(served: Served) -> dict[str, Any]:
    """OpenAI Responses."""
    output: list[dict[str, Any]] = []
    if served.reply.reasoning:
        summary = [{"type": "summary_text", "text": served.reply.reasoning}]
        output.append({"type": "reasoning", "id": f"rs_{served.number}", "summary": summary})
    if served.reply.text:
        content: dict[str, Any] = {
            "type": "output_text",
            "text": served.reply.text,
            "annotations": [],
        }
        output.append(
            {
                "type": "message",
                "id": f"msg_{served.number}",
                "role": "assistant",
                "status": "completed",
                "content": [content],
            }
        )
    for call_id, call in zip(served.call_ids, served.reply.calls, strict=True):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{call_id[5:]}",
                "call_id": call_id,
                "name": call.name,
                "arguments": write_args(call),
                "status": "completed",
            }
        )
    usage = served.usage
    return {
        "id": f"resp_{served.number}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": served.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def stream_response(served: Served) -> Iterator[dict[str, Any]]:
    """OpenAI Responses, as events."""
    whole = response(served)
    started: dict[str, Any] = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    for index, item in enumerate(whole["output"]):
        events += _stream_item(index, item)
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _stream_item(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if item["type"] == "reasoning":
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
        return
    place = {"item_id": item["id"], "output_index": index}
    is_text = item["type"] == "message"
    empty: dict[str, Any] = {"content": []} if is_text else {"arguments": ""}
    begun: dict[str, Any] = {**item, **empty, "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    if is_text:
        place["content_index"] = 0
        part = item["content"][0]
        yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
        for text in _halves(part["text"]):
            yield {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}
        text = part["text"]
        yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **place, "part": part}
    else:
        arguments = item["arguments"]
        for text in _halves(arguments):
            yield {"type": "response.function_call_arguments.delta", **place, "delta": text}
        done = {"arguments": arguments, "name": item["name"]}
        yield {"type": "response.function_call_arguments.done", **place, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def anthropic_message(served: Served) -> dict[str, Any]:
    """Anthropic messages, which count cached tokens beside the input tokens."""
    content: list[dict[str, Any]] = []
    if served.reply.reasoning:
        thinking = served.reply.reasoning
        content.append({"type": "thinking", "thinking": thinking, "signature": "c2ln"})
    if served.reply.text:
        content.append({"type": "text", "text": served.reply.text})
    for call_id, call in zip(served.call_ids, served.reply.calls, strict=True):
        content.append({"type": "tool_use", "id": call_id, "name": call.name, "input": call.args})
    usage = served.usage
    return {
        "id": f"msg_{served.number}",
        "type": "message",
        "role": "assistant",
        "model": served.model,
        "content": content,
        "stop_reason": "tool_use" if served.reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cached,
            "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": 0,
        },
    }


_EMPTY_BLOCKS: dict[str, dict[str, Any]] = {
    "thinking": {"thinking": "", "signature": ""},
    "text": {"text": ""},
    "tool_use": {"input": {}},
}


def stream_anthropic_message(served: Served) -> Iterator[dict[str, Any]]:
    """Anthropic messages, as events."""
    whole = anthropic_message(served)
    usage = {**whole["usage"], "output_tokens": 1}
    started: dict[str, Any] = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": started}
    for index, block in enumerate(whole["content"]):
        empty = _EMPTY_BLOCKS[block["type"]]
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        if block["type"] == "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"])
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif block["type"] == "text":
            deltas = [{"type": "text_delta", "text": part} for part in _halves(block["text"])]
        else:
            parts = _halves(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": whole["usage"]}
    yield {"type": "message_stop"}


def converse_output(served: Served) -> dict[str, Any]:
    """Bedrock's Converse, which counts cached tokens beside the input tokens."""
    content: list[dict[str, Any]] = []
    if served.reply.reasoning:
        thinking = {"text": served.reply.reasoning, "signature": "c2ln"}
        content.append({"reasoningContent": {"reasoningText": thinking}})
    if served.reply.text:
        content.append({"text": served.reply.text})
    for call_id, call in zip(served.call_ids, served.reply.calls, strict=True):
        use = {"toolUseId": call_id, "name": call.name, "input": call.args}
        content.append({"toolUse": use})
    usage = served.usage
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use" if served.reply.calls else "end_turn",
        "usage": {
            "inputTokens": usage.input - usage.cached,
            "outputTokens": usage.output,
            "totalTokens": usage.input + usage.output,
            "cacheReadInputTokens": usage.cached,
            "cacheWriteInputTokens": 0,
        },
        "metrics": {"latencyMs": 1},
    }


def gemini_content(served: Served) -> dict[str, Any]:
    """Gemini generateContent, which counts thoughts beside the candidates' tokens."""
    parts: list[dict[str, Any]] = []
    if served.reply.reasoning:
        parts.append({"text": served.reply.reasoning, "thought": True})
    if served.reply.text:
        parts.append({"text": served.reply.text})
    for call_id, call in zip(served.call_ids, served.reply.calls, strict=True):
        parts.append({"functionCall": {"id": call_id, "name": call.name, "args": call.args}})
    usage = served.usage
    return {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output - usage.reasoning,
            "cachedContentTokenCount": usage.cached,
            "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": served.model,
        "responseId": f"gemini-{served.number}",
    }
