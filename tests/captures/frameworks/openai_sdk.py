"""OpenAI's SDK, in a loop that runs the tools."""

from __future__ import annotations

from typing import Any

from openai import OpenAI
from opentelemetry import trace

from tests.captures.frameworks import chat_loop, support


def start_recorder() -> Any:
    """Start the recorder; return what to flush."""
    if support.RECORDER in _PLATFORMS:
        return _PLATFORMS[support.RECORDER]()
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


def start_openlit() -> Any:
    import openlit

    provider = support.tracer_provider()
    openlit.init(
        otlp_endpoint=support.URL,
        disable_metrics=True,
        capture_message_content=support.CONTENT,
    )
    return provider


def start_laminar() -> Any:
    from lmnr import Laminar

    port = int(support.URL.rpartition(":")[2])
    Laminar.initialize(
        project_api_key="test",
        base_url=support.URL.rpartition(":")[0],
        http_port=port,
        force_http=True,
        disable_batch=True,
    )
    return trace.get_tracer_provider()


def start_langfuse() -> Any:
    from langfuse import Langfuse

    Langfuse(public_key="pk", secret_key="sk", host=support.URL)
    return trace.get_tracer_provider()


_PLATFORMS = {
    "openlit": start_openlit,
    "laminar": start_laminar,
    "langfuse": start_langfuse,
}


def start_span() -> Any:
    """Return what starts a span around a request: Laminar ignores those of others."""
    if support.RECORDER == "laminar":
        from lmnr import Laminar

        return Laminar.start_as_current_span
    return chat_loop.start_span


def create_client() -> Any:
    if support.RECORDER == "langfuse":
        from langfuse.openai import OpenAI as TracedOpenAI

        return TracedOpenAI()
    return OpenAI()


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
    client = create_client()

    def complete(messages: list[dict], tools: list[dict]) -> dict[str, Any]:
        options: dict[str, Any] = {"tools": tools} if tools else {}
        if support.STREAM:
            options |= {"stream": True, "stream_options": {"include_usage": True}}
        reply = client.chat.completions.create(model=support.MODEL, messages=messages, **options)
        if support.STREAM:
            return merge_chunks(reply)
        return reply.choices[0].message.model_dump(exclude_none=True)

    chat_loop.run(complete, start_span())
    provider.force_flush()


main()
