"""Microsoft's Agent Framework."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from tests.captures.frameworks import support

os.environ |= {
    "ENABLE_INSTRUMENTATION": "true",
    "ENABLE_SENSITIVE_DATA": str(support.CONTENT).lower(),
}

from agent_framework import Agent, tool
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient


async def main() -> None:
    provider = support.tracer_provider()
    support.logger_provider()
    enable_instrumentation(enable_sensitive_data=support.CONTENT)
    client_class = (
        OpenAIChatClient if support.RECORDER == "responses" else OpenAIChatCompletionClient
    )

    def client() -> Any:
        return client_class(model=support.MODEL, api_key="test", base_url=support.API)

    tools = [tool(function, approval_mode="never_require") for function in support.TOOLS]
    worker = Agent(client(), support.instructions(support.WORKER), name=support.WORKER, tools=tools)
    agent = worker
    if support.TEAM == "sub-agent":
        as_tool = worker.as_tool(name="ask_weather_agent", arg_name="task")
        agent = Agent(
            client(),
            support.instructions(support.COORDINATOR),
            name=support.COORDINATOR,
            tools=[as_tool],
        )
    session = agent.create_session()

    async def ask(user: str) -> str:
        if support.STREAM:
            stream = agent.run(user, session=session, stream=True)
            async for _ in stream:
                pass
            return (await stream.get_final_response()).text
        return (await agent.run(user, session=session)).text

    await support.ask_all_async(ask)
    provider.force_flush()


asyncio.run(main())
