"""AutoGen's agent chat."""

from __future__ import annotations

import asyncio
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_ext.models.openai import OpenAIChatCompletionClient

from tests.captures.frameworks import support


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

        AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)
    return provider


def build_agent(name: str, **options: Any) -> AssistantAgent:
    return AssistantAgent(
        name,
        model_client=OpenAIChatCompletionClient(
            model=support.MODEL, base_url=support.API, api_key="test"
        ),
        system_message=support.instructions(name),
        description=name,
        reflect_on_tool_use=None,
        max_tool_iterations=5,
        **options,
    )


async def main() -> None:
    provider = start_recorder()
    worker = build_agent(support.WORKER, tools=support.TOOLS)
    agent: Any = worker
    if support.RECORDER == "team":
        agent = RoundRobinGroupChat([worker], termination_condition=MaxMessageTermination(2))
    if support.TEAM == "hand-over":
        coordinator = build_agent(support.COORDINATOR, handoffs=[support.WORKER])
        ending = TextMessageTermination(support.WORKER)
        agent = Swarm([coordinator, worker], termination_condition=ending)

    async def ask(user: str) -> str:
        if support.STREAM:
            async for event in agent.run_stream(task=user):
                result = event
        else:
            result = await agent.run(task=user)
        return result.messages[-1].content

    await support.ask_all_async(ask)
    provider.force_flush()


asyncio.run(main())
