"""Agno."""

from __future__ import annotations

from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.team import Team
from openinference.instrumentation.agno import AgnoInstrumentor

from tests.captures.frameworks import support


def main() -> None:
    provider = support.tracer_provider()
    AgnoInstrumentor().instrument(tracer_provider=provider)
    if support.RECORDER == "openinference-openai":
        from openinference.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor().instrument(tracer_provider=provider)
    shared: dict[str, Any] = {"db": InMemoryDb(), "telemetry": False}
    worker = Agent(
        name=support.WORKER,
        id=support.WORKER,
        role="Knows the weather.",
        model=OpenAIChat(id=support.MODEL, base_url=support.API, api_key="test"),
        instructions=support.instructions(support.WORKER),
        tools=support.TOOLS,
        add_history_to_context=True,
        tool_call_limit=support.MAX_STEPS,
        **shared,
    )
    agent: Any = worker
    if support.TEAM == "sub-agent":
        agent = Team(
            name=support.COORDINATOR,
            members=[worker],
            model=OpenAIChat(id=support.MODEL, base_url=support.API, api_key="test"),
            instructions=support.instructions(support.COORDINATOR),
            **shared,
        )

    def ask(user: str) -> str:
        if support.STREAM:
            for event in agent.run(
                user, session_id="session_1", stream=True, yield_run_output=True
            ):
                last = event
            return last.content
        return agent.run(user, session_id="session_1").content

    support.ask_all(ask)
    provider.force_flush()


main()
