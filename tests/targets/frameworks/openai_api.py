"""OpenAI's APIs with a scripted model, on the port of the first argument.

Requests and replies pass through the types of the official SDK, which reject what the API would.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from openai.types.chat import ChatCompletion, completion_create_params
from openai.types.responses import Response as ApiResponse
from openai.types.responses import response_create_params
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CHAT = TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming)
RESPONSE = TypeAdapter(response_create_params.ResponseCreateParamsNonStreaming)
SEEN: dict[str, list[Any]] = {}
"""The items of each response and of those before it."""


def decide(text: str) -> tuple[str | None, str]:
    """What the model says, or the order that it looks up."""
    if "order" in text:
        return "".join(filter(str.isdigit, text)), ""
    return None, "Hello!"


async def chat(request: Request) -> JSONResponse:
    body = await request.json()
    CHAT.validate_python(body)
    last = body["messages"][-1]
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if last["role"] == "tool":
        message["content"] = f"Your order is {last['content']}."
    else:
        order, text = decide(last["content"])
        if order is None:
            message["content"] = text
        else:
            function = {"name": "get_order", "arguments": f'{{"order_id": "{order}"}}'}
            message["tool_calls"] = [
                {"id": f"call_{len(body['messages'])}", "type": "function", "function": function}
            ]
    reply = ChatCompletion.model_validate(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
            ],
            "usage": {"prompt_tokens": 30, "completion_tokens": 6, "total_tokens": 36},
        }
    )
    return JSONResponse(reply.model_dump(mode="json"))


async def responses(request: Request) -> JSONResponse:
    body = await request.json()
    RESPONSE.validate_python(body)
    items = [*SEEN.get(body.get("previous_response_id", ""), []), *body["input"]]
    last, id = items[-1], f"resp_{len(SEEN)}"
    order, text = None, ""
    if last.get("type") == "function_call_output":
        text = f"Your order is {last['output']}."
    else:
        order, text = decide(last["content"])
    if order is None:
        part = {"type": "output_text", "text": text, "annotations": []}
        output: dict[str, Any] = {
            "type": "message",
            "id": f"msg_{len(items)}",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    else:
        output = {
            "type": "function_call",
            "call_id": f"call_{len(items)}",
            "name": "get_order",
            "arguments": f'{{"order_id": "{order}"}}',
        }
    SEEN[id] = [*items, output]
    reply = ApiResponse.model_validate(
        {
            "id": id,
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "output": [output],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools", []),
            "status": "completed",
            "usage": {
                "input_tokens": 30,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 6,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 36,
            },
        }
    )
    return JSONResponse(reply.model_dump(mode="json"))


if __name__ == "__main__":
    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/responses", responses, methods=["POST"]),
    ]
    uvicorn.run(
        Starlette(routes=routes), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning"
    )
