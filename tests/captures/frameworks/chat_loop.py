"""A loop around a model with tools, as people write it without a framework."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.captures.frameworks import support

TYPES = {"string": "string", "integer": "integer"}
Message = dict[str, Any]


def tool_schemas() -> list[dict[str, Any]]:
    """The tools as OpenAI's chat completions declare them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool["description"],
                "parameters": parameters(name),
            },
        }
        for name, tool in support.SCENARIO["all_tools"].items()
        if name in support.SCENARIO["tools"]
    ]


def parameters(name: str) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    fields = support.SCENARIO["all_tools"][name]["parameters"]
    return {
        "type": "object",
        "properties": {key: {"type": TYPES[kind]} for key, kind in fields.items()},
        "required": list(fields),
    }


def run_tool(name: str, args: dict[str, Any]) -> str:
    """Return the result of a tool as text, or what it says when it fails."""
    try:
        result = getattr(support, name)(**args)
    except (AttributeError, RuntimeError, TypeError) as error:
        return f"Error: {error}"
    return result if isinstance(result, str) else json.dumps(result)


def read_args(written: str) -> dict[str, Any]:
    """Return the arguments of a call; none if the model did not write JSON."""
    try:
        return json.loads(written)
    except ValueError:
        return {}


def start_span(name: str) -> AbstractContextManager[Any]:
    """Start the span of a request."""
    from opentelemetry import trace

    return trace.get_tracer("captures").start_as_current_span(name)


def run(
    complete: Callable[[list[Message], list[dict[str, Any]]], Message],
    start_span: Callable[[str], AbstractContextManager[Any]] = start_span,
) -> None:
    """Ask all questions in one conversation, each within a span of its own."""
    messages: list[Message] = [{"role": "system", "content": support.instructions(support.WORKER)}]

    def ask(user: str) -> str:
        messages.append({"role": "user", "content": support.openai_content(user)})
        with start_span("request"):
            while True:
                reply = complete(messages, tool_schemas())
                messages.append(reply)
                if not reply.get("tool_calls"):
                    return reply["content"]
                for call in reply["tool_calls"]:
                    function = call["function"]
                    result = run_tool(function["name"], read_args(function["arguments"]))
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    support.ask_all(ask)
