"""LlamaIndex's agent workflows."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai import OpenAI

from tests.captures.frameworks import support


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

        LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "openllmetry":
        from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor

        LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    else:
        from llama_index.observability.otel import LlamaIndexOpenTelemetry
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        LlamaIndexOpenTelemetry(span_exporter=OTLPSpanExporter()).start_registering()
    return provider


def build_agent() -> Any:
    model = OpenAI(support.MODEL, api_base=support.API, api_key="test")
    worker = FunctionAgent(
        name=support.WORKER,
        description="Knows the weather.",
        system_prompt=support.instructions(support.WORKER),
        tools=support.TOOLS,
        llm=model,
        streaming=support.STREAM,
    )
    if not support.IN_TWO:
        return worker
    coordinator = FunctionAgent(
        name=support.COORDINATOR,
        description="Coordinates.",
        system_prompt=support.instructions(support.COORDINATOR),
        llm=model,
        can_handoff_to=[support.WORKER],
        streaming=support.STREAM,
    )
    return AgentWorkflow([coordinator, worker], root_agent=support.COORDINATOR)


def build_message(user: str) -> Any:
    if not support.has_image(user):
        return user
    image = ImageBlock(image=base64.b64decode(support.IMAGE), image_mimetype="image/png")
    return ChatMessage(role="user", blocks=[TextBlock(text=user), image])


async def main() -> None:
    provider = start_recorder()
    agent = build_agent()
    memory = ChatMemoryBuffer.from_defaults(token_limit=4000)
    options: dict[str, Any] = {}
    if support.MAX_STEPS:
        options["max_iterations"] = support.MAX_STEPS

    async def ask(user: str) -> str:
        return str(await agent.run(build_message(user), memory=memory, **options))

    await support.ask_all_async(ask)
    await asyncio.sleep(0.5)
    provider.force_flush()


asyncio.run(main())
