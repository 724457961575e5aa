"""Google's Gen AI SDK, in a loop that runs the tools."""

from __future__ import annotations

import os
from typing import Any

from google import genai
from google.genai import types

from tests.captures.frameworks import chat_loop, support

MODEL = "gemini-2.5-flash"
CONTENT_MODES = {"spans": "SPAN_ONLY", "events": "EVENT_ONLY"}


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

        GoogleGenAIInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER in CONTENT_MODES:
        from opentelemetry.instrumentation.google_genai import GoogleGenAiSdkInstrumentor

        support.logger_provider()
        mode = CONTENT_MODES[support.RECORDER] if support.CONTENT else "NO_CONTENT"
        os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = mode
        GoogleGenAiSdkInstrumentor().instrument(tracer_provider=provider)
    else:
        from opentelemetry.instrumentation.google_generativeai import (
            GoogleGenerativeAiInstrumentor,
        )

        GoogleGenerativeAiInstrumentor().instrument(tracer_provider=provider)
    return provider


def main() -> None:
    provider = start_recorder()
    options = types.HttpOptions(base_url=support.URL)
    client = genai.Client(api_key="test", http_options=options)
    declarations = [
        types.FunctionDeclaration(
            name=name,
            description=support.SCENARIO["all_tools"][name]["description"],
            parameters_json_schema=chat_loop.parameters(name),
        )
        for name in support.SCENARIO["tools"]
    ]
    config = types.GenerateContentConfig(
        system_instruction=support.instructions(support.WORKER),
        tools=[types.Tool(function_declarations=declarations)] if declarations else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = []

    def ask(user: str) -> str:
        contents.append(types.Content(role="user", parts=[types.Part(text=user)]))
        with chat_loop.start_span("request"):
            while True:
                reply = client.models.generate_content(
                    model=MODEL, contents=contents, config=config
                )
                contents.append(reply.candidates[0].content)
                if not reply.function_calls:
                    return reply.text
                contents.append(types.Content(role="user", parts=run_calls(reply.function_calls)))

    support.ask_all(ask)
    provider.force_flush()


def run_calls(calls: list[Any]) -> list[Any]:
    return [
        types.Part.from_function_response(
            name=call.name, response={"result": chat_loop.run_tool(call.name, dict(call.args))}
        )
        for call in calls
    ]


main()
