"""IBM's BeeAI framework."""

from __future__ import annotations

import asyncio
from typing import Any

from beeai_framework.adapters.openai import OpenAIChatModel
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.memory import UnconstrainedMemory
from beeai_framework.tools import tool
from openinference.instrumentation.beeai import BeeAIInstrumentor

from tests.captures.frameworks import support


def finish_with_tool(reply: dict[str, Any]) -> dict[str, Any]:
    """Let the model answer with a call, as the agent demands."""
    if not reply["text"]:
        return reply
    call = {"name": "final_answer", "args": {"response": reply["text"]}}
    return {**reply, "text": "", "calls": [call]}


async def main() -> None:
    provider = support.tracer_provider()
    BeeAIInstrumentor().instrument(tracer_provider=provider)
    support.replace_replies(finish_with_tool)
    model = OpenAIChatModel(support.MODEL, api_key="test", base_url=support.API)
    agent = RequirementAgent(
        llm=model,
        name=support.WORKER,
        instructions=support.instructions(support.WORKER),
        memory=UnconstrainedMemory(),
        tools=[tool(function) for function in support.TOOLS],
    )

    async def ask(user: str) -> str:
        result = await agent.run(user)
        return result.last_message.text

    await support.ask_all_async(ask)
    provider.force_flush()


asyncio.run(main())
