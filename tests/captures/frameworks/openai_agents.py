"""OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from agents import (
    Agent,
    ModelSettings,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_trace_processors,
)
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.tracing.processors import BackendSpanExporter, BatchTraceProcessor
from openai import AsyncOpenAI

from tests.captures.frameworks import support

RECORDER, _, API = support.RECORDER.partition("-")


def start_recorder() -> Any:
    if RECORDER == "native":
        exporter = BackendSpanExporter(api_key="test", endpoint=f"{support.URL}/v1/traces/ingest")
        processor = BatchTraceProcessor(exporter, schedule_delay=0.1)
        set_trace_processors([processor])
        return processor
    if RECORDER == "opik":
        support.start_opik()
        from opik.integrations.openai.agents import OpikTracingProcessor

        set_trace_processors([OpikTracingProcessor()])
        return SimpleNamespace(force_flush=support.flush)
    if RECORDER == "weave":
        return SimpleNamespace(force_flush=support.start_weave().flush)
    if RECORDER == "mlflow":
        return support.start_mlflow("openai")
    provider = support.tracer_provider()
    if RECORDER == "openinference":
        from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    elif RECORDER == "openllmetry":
        from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    elif RECORDER == "otel":
        from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

        support.logger_provider()
        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    elif RECORDER == "logfire":
        import logfire

        logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
        logfire.instrument_openai_agents()
    return provider


def build_agent() -> Agent[Any]:
    worker = Agent(
        name=support.WORKER,
        instructions=support.instructions(support.WORKER),
        tools=[function_tool(tool) for tool in support.TOOLS],
        model=model(),
    )
    if not support.IN_TWO:
        return worker
    agent = Agent(
        name=support.COORDINATOR,
        instructions=support.instructions(support.COORDINATOR),
        model=model(),
    )
    if support.TEAM == "hand-over":
        agent.handoffs = [worker]
    else:
        agent.tools = [worker.as_tool("ask_weather_agent", "Ask the weather agent.")]
    return agent


def build_input(user: str) -> Any:
    if not support.has_image(user):
        return user
    image = {
        "type": "input_image",
        "image_url": f"data:image/png;base64,{support.IMAGE}",
        "detail": "auto",
    }
    return [{"role": "user", "content": [{"type": "input_text", "text": user}, image]}]


def model() -> Any:
    if API == "chat":
        return OpenAIChatCompletionsModel(model=support.MODEL, openai_client=AsyncOpenAI())
    return support.MODEL


async def main() -> None:
    recorder = start_recorder()
    agent = build_agent()
    config = RunConfig(
        # Otherwise the SDK hides the whole response from OpenInference.
        trace_include_sensitive_data=support.CONTENT or RECORDER == "openinference",
        group_id="session_1",
        model_settings=ModelSettings(include_usage=True),
    )
    options: dict[str, Any] = {"session": SQLiteSession("session_1"), "run_config": config}
    if support.MAX_STEPS:
        options["max_turns"] = support.MAX_STEPS

    async def ask(user: str) -> str:
        if not support.STREAM:
            return str((await Runner.run(agent, build_input(user), **options)).final_output)
        result = Runner.run_streamed(agent, build_input(user), **options)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    await support.ask_all_async(ask)
    recorder.force_flush()


asyncio.run(main())
