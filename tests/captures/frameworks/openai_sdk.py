"""OpenAI's SDK, in a loop that runs the tools."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from tests.captures.frameworks import chat_loop, support


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "openllmetry":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "otel":
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

        logs = support.logger_provider()
        OpenAIInstrumentor().instrument(tracer_provider=provider, logger_provider=logs)
    elif support.RECORDER == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
        logfire.instrument_openai()
    return provider


def merge_chunks(chunks: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    for chunk in chunks:
        for choice in chunk.choices[:1]:
            message["content"] += choice.delta.content or ""
            for part in choice.delta.tool_calls or ():
                if part.id:
                    function = {"name": part.function.name, "arguments": ""}
                    call = {"id": part.id, "type": "function", "function": function}
                    message["tool_calls"].append(call)
                if part.function.arguments:
                    call = message["tool_calls"][part.index]
                    call["function"]["arguments"] += part.function.arguments
    return {key: value for key, value in message.items() if value}


def main() -> None:
    provider = start_recorder()
    client = OpenAI()

    def complete(messages: list[dict], tools: list[dict]) -> dict[str, Any]:
        options: dict[str, Any] = {"tools": tools} if tools else {}
        if support.STREAM:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        reply = client.chat.completions.create(model=support.MODEL, messages=messages, **options)
        if support.STREAM:
            return merge_chunks(reply)
        return reply.choices[0].message.model_dump(exclude_none=True)

    chat_loop.run(complete)
    provider.force_flush()


main()
