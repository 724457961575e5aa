"""Microsoft's Semantic Kernel."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

from tests.captures.frameworks import support

os.environ |= {
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS": "true",
    "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE": str(
        support.CONTENT
    ).lower(),
}

from openai import AsyncOpenAI
from opentelemetry.sdk._logs import LoggingHandler
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import KernelPlugin, kernel_function


def prefix_calls(reply: dict[str, Any]) -> dict[str, Any]:
    """Name the tools as the model sees them, with their plugin."""
    calls = [{**call, "name": f"city-{call['name']}"} for call in reply["calls"]]
    return {**reply, "calls": calls}


def build_agent(name: str, plugins: list[Any]) -> ChatCompletionAgent:
    client = AsyncOpenAI(api_key="test", base_url=support.API)
    return ChatCompletionAgent(
        service=OpenAIChatCompletion(ai_model_id=support.MODEL, async_client=client),
        name=name,
        instructions=support.instructions(name),
        plugins=plugins,
    )


async def main() -> None:
    provider = support.tracer_provider()
    # The messages of models are log records, of Python's own logging.
    logging.getLogger("semantic_kernel").setLevel(logging.INFO)
    handler = LoggingHandler(level=logging.INFO, logger_provider=support.logger_provider())
    logging.getLogger("semantic_kernel").addHandler(handler)
    support.replace_replies(prefix_calls)
    functions = [kernel_function(function) for function in support.TOOLS]
    tools = KernelPlugin(name="city", functions=functions) if functions else None
    worker = build_agent(support.WORKER, [tools] if tools else [])
    agent = build_agent(support.COORDINATOR, [worker]) if support.IN_TWO else worker
    thread: ChatHistoryAgentThread | None = None

    async def ask(user: str) -> str:
        nonlocal thread
        if support.STREAM:
            text = ""
            async for part in agent.invoke_stream(messages=user, thread=thread):
                text += str(part.content)
                thread = part.thread
            return text
        response = await agent.get_response(messages=user, thread=thread)
        thread = response.thread
        return str(response.content)

    await support.ask_all_async(ask)
    provider.force_flush()


asyncio.run(main())
