"""Anthropic's SDK, in a loop that runs the tools."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic
from opentelemetry import trace

from tests.captures.frameworks import chat_loop, support

MODEL = "claude-sonnet-4-5"


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.anthropic import AnthropicInstrumentor

        AnthropicInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "openllmetry":
        from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

        AnthropicInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
        logfire.instrument_anthropic()
    return provider


def build_content(user: str) -> Any:
    if not support.has_image(user):
        return user
    source = {"type": "base64", "media_type": "image/png", "data": support.IMAGE}
    return [{"type": "image", "source": source}, {"type": "text", "text": user}]


def main() -> None:
    provider = start_recorder()
    client = Anthropic()
    messages: list[dict[str, Any]] = []
    tools = [
        {
            "name": name,
            "description": support.SCENARIO["all_tools"][name]["description"],
            "input_schema": chat_loop.parameters(name),
        }
        for name in support.SCENARIO["tools"]
    ]
    options: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 500,
        "system": support.instructions(support.WORKER),
        **({"tools": tools} if tools else {}),
    }
    tracer = trace.get_tracer("captures")

    def complete() -> Any:
        if not support.STREAM:
            return client.messages.create(messages=messages, **options)
        with client.messages.stream(messages=messages, **options) as stream:
            return stream.get_final_message()

    def ask(user: str) -> str:
        messages.append({"role": "user", "content": build_content(user)})
        with tracer.start_as_current_span("request"):
            while True:
                reply = complete()
                content = [block.model_dump(exclude_none=True) for block in reply.content]
                messages.append({"role": "assistant", "content": content})
                results = [
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": chat_loop.run_tool(block.name, block.input),
                    }
                    for block in reply.content
                    if block.type == "tool_use"
                ]
                if not results:
                    return reply.content[-1].text if reply.content else ""
                messages.append({"role": "user", "content": results})

    support.ask_all(ask)
    provider.force_flush()


main()
